/** Loops that wait for a name to resolve or a port to answer: how long, and what happens when it never does. */
import { testOf } from "./conditions.js";
import { type Domain, interpret, type Step } from "./interpret.js";
import type { Flow, ForEach, Invocation, ShellProgram, While } from "./program.js";
import { redisCalls } from "./redis.js";
import { literal, makeText, sameText, type Text } from "./text.js";

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
  const onExpiry = expiry(program, probes);
  const first = inside[0];
  const bounded = boundOf(program, loop, inside, first);
  return {
    loop,
    probes,
    hosts: probes.flatMap((probe) => probe.hosts),
    bounded: bounded ?? (program.complete ? false : undefined),
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

function boundOf(
  program: ShellProgram,
  loop: While | ForEach,
  inside: readonly Invocation[],
  first: Invocation | undefined,
): boolean | undefined {
  if (outerTimeout(program, first, loop) !== undefined) return true;
  if (loop.type === "for") {
    if (loop.arithmetic !== undefined) return /[<>]|!=/.test(loop.arithmetic) ? true : undefined;
    return loop.list !== undefined ? true : undefined;
  }
  // A comparison with something that the rounds change, and that leads out.
  const changed = new Set<string>();
  for (const invocation of inside) {
    for (const assign of invocation.assigns) changed.add(assign.name);
    const [head, body] = invocation.command;
    if (head?.known === "((" || head?.known === "let")
      for (const match of (body?.known ?? "").matchAll(/[A-Za-z_]\w*/g)) changed.add(match[0]);
  }
  for (const invocation of inside) {
    const test = testOf(invocation);
    if (test === undefined) continue;
    const mentions = (text: string): boolean =>
      /\bSECONDS\b/.test(text) || [...text.matchAll(/[A-Za-z_]\w*/g)].some((match) => changed.has(match[0]));
    let counts = false;
    if (test.kind === "arithmetic") counts = /[<>]|==|!=/.test(test.text) && mentions(test.text);
    else {
      counts = comparisons(test).some((texts) =>
        texts.some((text) =>
          text.pieces.some(
            (piece) =>
              typeof piece !== "string" &&
              ((piece.kind === "variable" && (changed.has(piece.name ?? "") || piece.name === "SECONDS")) ||
                piece.kind === "arithmetic" ||
                (piece.kind === "command" && piece.name === "date")),
          ),
        ),
      );
    }
    if (counts && leadsOut(invocation, loop)) return true;
  }
  return undefined;
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
  const { list } = loop;
  if (list === undefined) return undefined;
  if (list.every((text) => text.known !== undefined)) return list.length;
  const [only] = list;
  const hole = only?.pieces[0];
  if (list.length !== 1 || hole === undefined || typeof hole === "string") return undefined;
  if (hole.kind === "glob") {
    const range = /^\{(\d+)\.\.(\d+)\}$/.exec(hole.name ?? "");
    return range === null ? undefined : Math.abs(Number(range[2]) - Number(range[1])) + 1;
  }
  const seq = hole.kind === "command" && hole.name === "seq" ? hole.runs?.[hole.runs.length - 1] : undefined;
  const bounds = seq?.command.slice(1).map(numberOf);
  if (bounds === undefined || bounds.length === 0 || bounds.some((bound) => bound === undefined)) return undefined;
  if (bounds.length === 1) return bounds[0];
  const step = bounds.length === 3 ? bounds[1]! : 1;
  return Math.floor((bounds[bounds.length - 1]! - bounds[0]!) / step) + 1;
}

/** Runs the program with probes that never succeed. */
function expiry(program: ShellProgram, probes: readonly Probe[]): Wait["onExpiry"] {
  const failing = new Set(probes.map((probe) => probe.invocation));
  const hosts = probes.flatMap((probe) => probe.hosts);
  // The same question asked again behind the loop has the same answer.
  for (const invocation of program.invocations) {
    if (probeOf(invocation)?.hosts.some((host) => hosts.some((other) => sameText(host, other))))
      failing.add(invocation);
  }
  const domain: Domain<{ readonly waited: boolean }> = {
    key: (state) => String(state.waited),
    run(invocation, state): readonly Step<{ readonly waited: boolean }>[] {
      if (failing.has(invocation)) return [{ state: { waited: true }, ok: false }];
      // A filter behind a probe that printed nothing finds nothing.
      if (behind(invocation, failing)) return [{ state, ok: false }];
      const test = testOf(invocation);
      if (test !== undefined || MAY_FAIL.has(invocation.name ?? ""))
        return [
          { state, ok: true },
          { state, ok: false },
        ];
      return [{ state, ok: true }];
    },
  };
  const { ends, incomplete } = interpret(program, { waited: false }, domain);
  const after = ends.filter((end) => end.state.waited);
  if (incomplete) return "unknown";
  if (after.length === 0) return "never";
  return after.some((end) => end.ok) ? "continues" : "fails";
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
