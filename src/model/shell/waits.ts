/** Loops that wait for a name to resolve or a port to answer: how long, and what happens when it never does. */
import { decide, testOf } from "./conditions.js";
import { arithmeticNames, type Domain, type End, interpret, itemsOf, type Step } from "./interpret.js";
import type { Choice, Flow, ForEach, Invocation, ShellProgram, While } from "./program.js";
import { redisCalls } from "./redis.js";
import { literal, makeText, runsOf, sameText, type Text } from "./text.js";

/** A command that asks for a name or an address. `resolves`: it succeeds when the name resolves, whatever answers there. */
export interface Probe {
  readonly invocation: Invocation;
  readonly resolves: boolean;
  /** Names or addresses that it asks for. */
  readonly hosts: readonly Text[];
}

export interface Wait {
  readonly loop: While | ForEach;
  readonly probes: readonly Probe[];
  readonly hosts: readonly Text[];
  /** The loop ends although the probe never succeeds: by a counter, a list, a deadline, `timeout`. undefined: not decided. */
  readonly bounded: boolean | undefined;
  /** Rounds times pause, where both are known; seconds. */
  readonly seconds: number | undefined;
  /** What the script does when the probe never succeeds. */
  readonly onExpiry: "fails" | "continues" | "never" | "unknown";
}

/** A script with more waiting loops than this is not one that people wrote. */
const MAX_WAITS = 40;

/** The probe that a command is; undefined: it is none. */
export function probeOf(invocation: Invocation): Probe | undefined {
  const { command, name } = invocation;
  const words = command.slice(1);
  const operands = words.filter((arg) => !(arg.known ?? "").startsWith("-"));
  switch (name) {
    case "getent": {
      const database = operands[0]?.known;
      if (database === undefined || !/^(?:ahosts|ahostsv4|ahostsv6|hosts)$/.test(database)) return undefined;
      return { invocation, resolves: true, hosts: operands.slice(1) };
    }
    case "nslookup":
    case "host":
    case "dig":
    case "drill":
    case "resolveip": {
      const host = operands.find((arg) => !(arg.known ?? "").startsWith("@") && !(arg.known ?? "").startsWith("+"));
      return host === undefined ? undefined : { invocation, resolves: true, hosts: [host] };
    }
    case "ping":
    case "ping6":
    case "fping": {
      const host = words[words.length - 1];
      return host === undefined ? undefined : { invocation, resolves: false, hosts: [host] };
    }
    case "nc":
    case "ncat":
    case "netcat":
    case "telnet": {
      const hosts = operands.slice(0, 1);
      return hosts.length === 0 ? undefined : { invocation, resolves: false, hosts };
    }
    case "curl":
    case "wget": {
      const urls = operands.filter((arg) => /:\/\//.test(typeof arg.pieces[0] === "string" ? arg.pieces[0] : ""));
      return urls.length === 0 ? undefined : { invocation, resolves: false, hosts: urls.map(hostOfUrl) };
    }
    case "redis-cli":
    case "valkey-cli": {
      const calls = redisCalls(invocation);
      return { invocation, resolves: false, hosts: calls.flatMap((call) => call.host ?? []) };
    }
    default:
      return undefined;
  }
}

function hostOfUrl(url: Text): Text {
  const [first, ...rest] = url.pieces;
  if (typeof first !== "string") return url;
  const match = /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/]*@)?([^:/]*)(.*)$/i.exec(first);
  if (match === null) return url;
  return match[2] === "" ? makeText([match[1]!, ...rest]) : literal(match[1]!);
}

/** All loops of a program that wait for a probe, in the order of the text. */
export function waitsOf(program: ShellProgram): Wait[] {
  const out: Wait[] = [];
  const seen = new Set<Flow>();
  for (const invocation of program.invocations) {
    const probe = probeOf(invocation);
    if (probe === undefined || !invocation.reached) continue;
    for (let i = invocation.frames.length - 1; i >= 0; i--) {
      const { flow } = invocation.frames[i]!;
      if ((flow.type !== "loop" && flow.type !== "for") || seen.has(flow)) continue;
      const probes = probesIn(program, flow);
      if (!isWait(flow, probes)) continue;
      seen.add(flow);
      if (out.length >= MAX_WAITS) return out;
      out.push(waitOf(program, flow, probes));
      break;
    }
  }
  return out;
}

function probesIn(program: ShellProgram, loop: Flow): Probe[] {
  return program.invocations
    .filter((invocation) => invocation.frames.some((frame) => frame.flow === loop))
    .flatMap((invocation) => probeOf(invocation) ?? []);
}

function within(invocation: Invocation, loop: Flow): number | undefined {
  return invocation.frames.find((frame) => frame.flow === loop)?.slot;
}

/** A loop waits when the probe decides whether it goes on: in its test, or before a way out in its body. */
function isWait(loop: While | ForEach, probes: readonly Probe[]): boolean {
  if (loop.type === "loop" && probes.some((probe) => within(probe.invocation, loop) === 0)) return true;
  return probes.length > 0 && leaves(loop.body);
}

/** Whether a flow has a `break`, `return` or `exit`. */
function leaves(flow: Flow): boolean {
  switch (flow.type) {
    case "run":
      return flow.ends !== undefined;
    case "seq":
    case "andor":
    case "pipe":
      return flow.items.some(leaves);
    case "if":
      return [...flow.bodies, ...(flow.otherwise === undefined ? [] : [flow.otherwise])].some(leaves);
    case "case":
      return flow.items.some((item) => leaves(item.body));
    case "loop":
    case "for":
    case "call":
      return leaves(flow.body);
    default:
      return false;
  }
}

function waitOf(program: ShellProgram, loop: While | ForEach, probes: readonly Probe[]): Wait {
  const inside = program.invocations.filter((invocation) => within(invocation, loop) !== undefined);
  const changed = changedIn(loop, inside);
  const onExpiry = expiry(program, probes, inside, changed);
  const first = inside[0];
  const bounded = boundOf(program, loop, inside, changed);
  return {
    loop,
    probes,
    hosts: probes.flatMap((probe) => probe.hosts),
    bounded: bounded ?? (program.complete && !hasOtherWayOut(loop, inside, probes) ? false : undefined),
    seconds: secondsOf(program, loop, inside, first),
    onExpiry: bounded === true || onExpiry === "unknown" ? onExpiry : "never",
  };
}

/** The `timeout` around a loop: `timeout 60 sh -c 'until …'`. */
function outerTimeout(program: ShellProgram, first: Invocation | undefined, loop: Flow): Text | undefined {
  for (const frame of first?.frames ?? []) {
    if (frame.flow === loop) return undefined;
    if (frame.flow.type !== "run") continue;
    const wrapper = frame.flow.invocation?.wrappers.find((w) => w.timeout !== undefined);
    if (wrapper !== undefined && program.invocations.includes(frame.flow.invocation)) return wrapper.timeout;
  }
  return undefined;
}

/** Variables that the rounds of a loop change. */
function changedIn(loop: While | ForEach, inside: readonly Invocation[]): ReadonlySet<string> {
  const changed = new Set<string>();
  if (loop.type === "for" && loop.name !== "") changed.add(loop.name);
  for (const invocation of inside) {
    for (const assign of invocation.assigns) changed.add(assign.name);
    for (const name of arithmeticNames(invocation)) changed.add(name);
    if (invocation.name === "read") for (const word of invocation.command.slice(1)) changed.add(word.known ?? "");
  }
  return changed;
}

function boundOf(
  program: ShellProgram,
  loop: While | ForEach,
  inside: readonly Invocation[],
  changed: ReadonlySet<string>,
): boolean | undefined {
  if (outerTimeout(program, inside[0], loop) !== undefined) return true;
  if (loop.type === "for") {
    if (loop.arithmetic !== undefined) return /[<>]|!=/.test(loop.arithmetic) ? true : undefined;
    return loop.list !== undefined ? true : undefined;
  }
  // A comparison with something that the rounds change, and that leads out.
  for (const invocation of inside) {
    const test = testOf(invocation);
    if (test === undefined) continue;
    const counts =
      test.kind === "arithmetic"
        ? /[<>]|==|!=/.test(test.text) && mentions(test.text, changed)
        : comparisons(test).some((texts) => texts.some((text) => isCount(text, changed)));
    if (counts && leadsOut(invocation, loop)) return true;
  }
  return choicesIn(loop, inside).some((choice) => isCount(choice.subject, changed)) ? true : undefined;
}

/** The `case`s of a loop's rounds that may lead out. */
function choicesIn(loop: While, inside: readonly Invocation[]): Choice[] {
  return inside.flatMap(({ frames }) =>
    frames
      .slice(frames.findIndex((frame) => frame.flow === loop) + 1)
      .flatMap(({ flow }) => (flow.type === "case" && flow.items.some((item) => leaves(item.body)) ? [flow] : [])),
  );
}

/** Whether an arithmetic expression has a variable that moves. */
function mentions(text: string, changed: ReadonlySet<string>): boolean {
  return [...text.matchAll(/[A-Za-z_]\w*/g)].some(([name]) => name === "SECONDS" || changed.has(name));
}

/** Whether a text is another one in each round: a counter, the time. */
function isCount(text: Text, changed: ReadonlySet<string>): boolean {
  return text.pieces.some((piece) => {
    if (typeof piece === "string") return false;
    if (piece.kind === "arithmetic" || changed.has(piece.held?.name ?? "")) return true;
    if (piece.kind === "variable") return changed.has(piece.name ?? "") || piece.name === "SECONDS";
    return piece.kind === "command" && piece.name === "date";
  });
}

/** Whether something else than the probe may end the loop: a test that is no counter, and nobody knows how often it fails. */
function hasOtherWayOut(loop: While | ForEach, inside: readonly Invocation[], probes: readonly Probe[]): boolean {
  if (loop.type !== "loop") return false;
  const asking = new Set(probes.map((probe) => probe.invocation));
  const asks = (text: Text): boolean => runsOf(text).some((run) => asking.has(run));
  return (
    choicesIn(loop, inside).some(({ subject }) => subject.known === undefined && !asks(subject)) ||
    inside.some((invocation) => {
      const test = testOf(invocation);
      return (
        test !== undefined && decide(test) === undefined && !invocation.command.some(asks) && leadsOut(invocation, loop)
      );
    })
  );
}

function comparisons(test: NonNullable<ReturnType<typeof testOf>>): (readonly Text[])[] {
  if (test.kind === "compare") return [[test.left, test.right]];
  if (test.kind === "not") return comparisons(test.test);
  if (test.kind === "and" || test.kind === "or") return test.tests.flatMap(comparisons);
  return [];
}

/** Whether a test stands in the loop's own test, or guards a way out of it. */
function leadsOut(invocation: Invocation, loop: While): boolean {
  const { frames } = invocation;
  const at = frames.findIndex((frame) => frame.flow === loop);
  if (frames[at]?.slot === 0) return true;
  for (let i = at + 1; i < frames.length; i++) {
    const { flow, slot } = frames[i]!;
    if (flow.type === "if" && slot % 2 === 0) {
      if (flow.bodies.some((body) => leaves(body)) || (flow.otherwise !== undefined && leaves(flow.otherwise)))
        return true;
    }
    if (flow.type === "andor" && flow.items.slice(slot + 1).some((item) => leaves(item))) return true;
  }
  return false;
}

function numberOf(text: Text | undefined): number | undefined {
  return text?.known !== undefined && /^\d+(?:\.\d+)?s?$/.test(text.known) ? Number.parseFloat(text.known) : undefined;
}

function secondsOf(
  program: ShellProgram,
  loop: While | ForEach,
  inside: readonly Invocation[],
  first: Invocation | undefined,
): number | undefined {
  const limit = numberOf(outerTimeout(program, first, loop));
  if (limit !== undefined) return limit;
  const pauses = inside
    .filter((invocation) => invocation.name === "sleep")
    .map((invocation) => numberOf(invocation.command[1]));
  if (pauses.length !== 1 || pauses[0] === undefined) return undefined;
  let rounds: number | undefined;
  if (loop.type === "for") rounds = roundsOf(loop);
  else {
    for (const invocation of inside) {
      const test = testOf(invocation);
      if (test === undefined) continue;
      for (const texts of comparisons(test)) for (const text of texts) rounds ??= numberOf(text);
      if (test.kind === "arithmetic") rounds ??= numberOf(literal(/[<>=]\s*(\d+)/.exec(test.text)?.[1] ?? ""));
    }
  }
  return rounds === undefined ? undefined : rounds * pauses[0];
}

function roundsOf(loop: ForEach): number | undefined {
  if (loop.arithmetic !== undefined) return numberOf(literal(/<=?\s*(\d+)/.exec(loop.arithmetic)?.[1] ?? ""));
  return itemsOf(loop)?.length;
}

/** Runs the program with probes that never succeed. */
function expiry(
  program: ShellProgram,
  probes: readonly Probe[],
  inside: readonly Invocation[],
  changed: ReadonlySet<string>,
): Wait["onExpiry"] {
  const failing = new Set(probes.map((probe) => probe.invocation));
  const hosts = probes.flatMap((probe) => probe.hosts);
  // The same question asked again behind the loop has the same answer.
  for (const invocation of program.invocations) {
    if (probeOf(invocation)?.hosts.some((host) => hosts.some((other) => sameText(host, other))))
      failing.add(invocation);
  }
  const within = new Set(inside);
  /** Whether an answer depends on how the rounds went. */
  const isOfTheWait = (text: Text): boolean =>
    isCount(text, changed) || runsOf(text).some((run) => within.has(run) || failing.has(run));
  const domain: Domain<Expired> = {
    key: (state) => `${state.waited}${state.guessed}`,
    guess: (subject, state) => (isOfTheWait(subject) ? { ...state, guessed: true } : state),
    run(invocation, state): readonly Step<Expired>[] {
      if (failing.has(invocation)) return [{ state: { ...state, waited: true }, ok: false }];
      // A filter behind a probe that printed nothing finds nothing.
      if (behind(invocation, failing)) return [{ state, ok: false }];
      const test = testOf(invocation);
      if (test === undefined && !MAY_FAIL.has(invocation.name ?? "")) return [{ state, ok: true }];
      const guessed =
        state.guessed ||
        within.has(invocation) ||
        (test?.kind === "arithmetic" && mentions(test.text, changed)) ||
        invocation.command.some(isOfTheWait);
      const after = { ...state, guessed };
      return [
        { state: after, ok: true },
        { state: after, ok: false },
      ];
    },
  };
  const run = (counts: boolean): readonly End<Expired>[] | undefined => {
    const { ends, incomplete } = interpret(program, { waited: false, guessed: false }, { ...domain, counts });
    return incomplete ? undefined : ends.filter((end) => end.state.waited);
  };
  const fails = (ends: readonly End<Expired>[]): boolean => ends.every((end) => !end.ok);
  // following the counter takes time, and need not be where the script ends well in no case
  const loose = run(false);
  const after = loose !== undefined && fails(loose) ? loose : run(true);
  if (after === undefined) return "unknown";
  if (after.length === 0) return "never";
  if (fails(after)) return "fails";
  // What only a guess about the rounds leads to may be what never happens.
  return after.every((end) => end.ok) || after.some((end) => end.ok && !end.state.guessed) ? "continues" : "unknown";
}

/** `guessed`: on the way some test of the wait was not decided. */
interface Expired {
  readonly waited: boolean;
  readonly guessed: boolean;
}

/** Whether a command reads, through filters, what one of `failing` printed. */
function behind(invocation: Invocation, failing: ReadonlySet<Invocation>): boolean {
  if (!FILTERS.has(invocation.name ?? "")) return false;
  const seen = new Set<Invocation>();
  for (let from = invocation.pipedFrom; from !== undefined && !seen.has(from); from = from.pipedFrom) {
    seen.add(from);
    if (failing.has(from)) return true;
  }
  return false;
}

const FILTERS = new Set(["grep", "egrep", "fgrep", "read"]);
const MAY_FAIL = new Set(["grep", "cmp", "diff", "expr", "false", "kill", "pgrep", "command"]);
