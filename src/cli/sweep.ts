/** `quorumlint prove --sweep`: mutates every field of a contract and prints which fields no rule guards. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { equivalents } from "../../fixtures/equivalent/redis-lab.js";
import { rules } from "../../rules/index.js";
import { type CheckOptions, check } from "../contract/check.js";
import type { Host } from "../contract/host.js";
import type { LoadedRoot } from "../contract/load.js";
import { overlayHost } from "../contract/overlay.js";
import { applyBaseline, BaselineError, parseBaseline } from "../engine/baseline.js";
import { type Diagnostic, severityRank } from "../engine/diagnostic.js";
import { type Coverage, coverageOf } from "../mutation/coverage.js";
import { locationOf, type Mutant, readableDiff } from "../mutation/mutant.js";
import { htmlReport, sweepReport } from "../mutation/report.js";
import { allMutants, type Sweep, type SweepOptions, sweep, type Verdict } from "../mutation/sweep.js";
import { Source } from "../text/source.js";
import { VERSION } from "../version.js";
import { absolute, selection } from "./check.js";
import { disk } from "./disk.js";
import { type Colours, clock, colorOption, note, palette, print } from "./output.js";
import { prepareParsers } from "./parsers.js";
import { UsageError } from "./usage.js";

export interface SweepFlags {
  readonly rule?: string[];
  readonly sweep?: boolean;
  readonly since?: string;
  readonly minScore?: number;
  readonly baseline?: string;
  readonly allKillers?: boolean;
  readonly threads?: number;
  readonly config?: string;
  readonly format: string;
  readonly part?: string;
  readonly today?: string;
  readonly color?: boolean;
}

const HOMEPAGE = "https://github.com/quorumlint/quorumlint";
const FORMATS = ["pretty", "json", "html"] as const;
/** A worker reads the contract, records its rules and warms up anew: fewer mutants than this are judged sooner without one. */
const MUTANTS_PER_THREAD = 10_000;

export async function sweepCommand(path: string, flags: SweepFlags): Promise<number> {
  const equals = flags.format.indexOf("=");
  const format = equals < 0 ? flags.format : flags.format.slice(0, equals);
  if (!(FORMATS as readonly string[]).includes(format))
    throw new UsageError(`there is no format "${format}"; formats of a sweep are ${FORMATS.join(", ")}`);
  const folder = absolute(path);
  if (!existsSync(folder)) throw new UsageError(`there is no file or directory ${folder}`);
  const selected = selection(flags.rule, undefined);
  const chosen = selected === undefined ? rules : rules.filter((r) => selected(r.id));
  const options: CheckOptions = {
    rules,
    selected,
    today: flags.today ?? clock(),
    version: VERSION,
    config: flags.config === undefined ? undefined : absolute(flags.config),
    prepare: prepareParsers,
  };
  const host = remembered(disk);
  const run = await check(host, [folder], options);
  if (run.faults.length > 0) {
    for (const fault of run.faults) note(`quorumlint: ${fault}`);
    return 2;
  }
  for (const text of run.notes) note(`quorumlint: ${text}`);
  const roots = run.roots.filter((r) => r.contracts.length > 0);
  const root = roots[0];
  if (root === undefined) return 0;
  if (roots.length > 1)
    throw new UsageError(
      `a sweep works on one contract file at a time; there are ${roots.map((r) => r.root).join(", ")}`,
    );
  for (const crash of run.result.crashes)
    note(
      `quorumlint: this is a bug of quorumlint: rule ${crash.rule} crashed on ${crash.file}: ${crash.error.message}`,
    );
  if (run.result.crashes.length > 0) return 3;
  const open = withoutBaseline(run.result.diagnostics, flags.baseline).filter(
    (d) => severityRank(d.severity) >= severityRank("warning"),
  );
  if (open.length > 0) {
    note(
      "quorumlint: the contract is not clean, so its mutants would prove nothing; repair it, or accept what is known with --baseline FILE:",
    );
    for (const d of open.slice(0, 20))
      note(`  ${d.at.source.file}:${d.at.source.position(d.at.start).line}: ${d.rule}: ${d.message}`);
    if (open.length > 20) note(`  and ${open.length - 20} more`);
    return 1;
  }

  const { contracts } = root;
  const golden = /(?:^|\/)fixtures\/redis-lab$/.test(root.root);
  const since = flags.since === undefined ? undefined : changedLines(root.root, flags.since);
  const part = partOf(flags.part);
  const wanted = (mutant: Mutant, index: number): boolean =>
    (since === undefined || touches(mutant, since)) && (part === undefined || index % part.of === part.index);
  const sweepOptions: SweepOptions = {
    rules: chosen,
    contracts,
    accepted: run.result.diagnostics,
    suppressing: isSuppressing(root),
    equivalents: golden ? equivalents : [],
    prepare: (contract) => prepareParsers(contract, true),
    relint: async (file, text) => {
      const changed = join(root.root, file);
      const bytes = new TextEncoder().encode(text);
      const overlay = overlayHost(host, new Map([[changed, bytes]]));
      const again = await check(overlay, [folder], {
        ...options,
        prepare: (contract) => prepareParsers(contract, true),
      });
      const own = again.roots.find((r) => r.root === root.root);
      return {
        diagnostics: own === undefined ? [] : again.result.diagnostics,
        faults: again.faults,
        crashes: again.result.crashes,
      };
    },
    wanted,
    allKillers: flags.allKillers,
  };
  if (!isMainThread) return inWorker(sweepOptions);

  const progress = new Progress();
  const stop = (): void => progress.stop();
  process.once("SIGINT", stop);
  let result: Sweep;
  try {
    const threads = threadsFor(flags.threads, contracts, wanted);
    result =
      threads > 1
        ? await inThreads(sweepOptions, threads, process.argv.slice(2), progress)
        : await sweep({ ...sweepOptions, tick: (done, total) => progress.tick(done, total) });
  } finally {
    process.off("SIGINT", stop);
    progress.end();
  }
  const coverage = coverageOf(
    result.results,
    chosen.map((r) => r.id),
  );
  const colours = await palette(colorOption(flags));
  const text = (): string => {
    if (format === "pretty") return pretty(result, coverage, flags, colours);
    const report = sweepReport(result, {
      contracts,
      rules: chosen,
      coverage,
      version: VERSION,
      homepage: HOMEPAGE,
      minimum: flags.minScore,
      allKillers: flags.allKillers === true,
    });
    if (format === "json") return `${JSON.stringify(report, null, 2)}\n`;
    return htmlReport(report, reportElement(), `quorumlint: ${contracts.map((c) => c.name).join(", ")}`);
  };
  if (equals < 0) await print(text());
  else writeFileSync(flags.format.slice(equals + 1), text());
  return exitCode(result, coverage, flags.minScore);
}

function exitCode(result: Sweep, coverage: Coverage, minimum: number | undefined): number {
  const { counts, score } = coverage;
  if (counts.RuntimeError > 0) return 3;
  if (result.stopped || result.stale.length > 0) return 1;
  if (minimum !== undefined) return score !== undefined && score < minimum ? 1 : 0;
  return counts.Survived + counts.NoCoverage > 0 ? 1 : 0;
}

function withoutBaseline(diagnostics: readonly Diagnostic[], file: string | undefined): readonly Diagnostic[] {
  if (file === undefined) return diagnostics;
  if (!existsSync(file))
    throw new UsageError(
      `there is no baseline ${file}; quorumlint check --baseline ${file} --update-baseline makes one`,
    );
  try {
    return applyBaseline(diagnostics, parseBaseline(new Source(file, readFileSync(file, "utf8")))).active;
  } catch (error) {
    if (!(error instanceof BaselineError)) throw error;
    const { line, column } = error.at.source.position(error.at.start);
    throw new UsageError(`${file}:${line}:${column}: ${error.message}`);
  }
}

function isSuppressing(root: LoadedRoot): boolean {
  return (
    (root.config?.suppress.length ?? 0) > 0 ||
    root.contracts.some((c) => c.files.some((f) => f.source.text.includes("quorumlint:")))
  );
}

/** The disk as it was when the sweep began: thousands of lints must see the same files. */
function remembered(host: Host): Host {
  const reads = new Map<string, Uint8Array | undefined>();
  const stats = new Map<string, ReturnType<Host["stat"]>>();
  const lists = new Map<string, ReturnType<Host["list"]>>();
  const reals = new Map<string, string | undefined>();
  const keep = <T>(map: Map<string, T>, read: (path: string) => T) => {
    return (path: string): T => {
      if (!map.has(path)) map.set(path, read(path));
      return map.get(path)!;
    };
  };
  return {
    read: keep(reads, host.read),
    stat: keep(stats, host.stat),
    list: keep(lists, host.list),
    real: keep(reals, (path) => (host.real === undefined ? path : host.real(path))),
  };
}

// ---------------------------------------------------------------------------------------------------------------- --since

type ChangedLines = ReadonlyMap<string, readonly (readonly [first: number, last: number])[]>;

/** Lines that changed since a revision, by file relative to the root; files that git does not know are new as a whole. */
function changedLines(root: string, revision: string): ChangedLines {
  if (revision.startsWith("-")) throw new UsageError(`"${revision}" is no git revision`);
  const git = (...args: string[]): string => {
    try {
      return execFileSync("git", ["-C", root, "-c", "core.quotePath=false", ...args], {
        encoding: "utf8",
        maxBuffer: 2 ** 28,
        stdio: ["ignore", "pipe", "pipe"],
      });
    } catch (error) {
      const { stderr, code } = error as { stderr?: string; code?: string };
      if (code === "ENOENT") throw new UsageError("--since needs git, which is not installed");
      throw new UsageError(`git: ${(stderr ?? String(error)).trim().split("\n")[0]}`);
    }
  };
  const out = new Map<string, [number, number][]>();
  let file: string | undefined;
  const diff = git(
    "diff",
    "--no-color",
    "--no-ext-diff",
    "--no-renames",
    "--relative",
    "--unified=0",
    revision,
    "--",
    ".",
  );
  for (const line of diff.split("\n")) {
    const named = /^\+\+\+ (?:b\/)?(.*?)\t?$/.exec(line);
    if (named !== null) {
      file = named[1] === "/dev/null" ? undefined : named[1];
      continue;
    }
    const hunk = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk === null || file === undefined) continue;
    const first = Number(hunk[1]);
    const count = hunk[2] === undefined ? 1 : Number(hunk[2]);
    const list = out.get(file);
    // lines that are gone leave their neighbours as the place of the change
    const range: [number, number] = count === 0 ? [first, first + 1] : [first, first + count - 1];
    if (list === undefined) out.set(file, [range]);
    else list.push(range);
  }
  for (const name of git("ls-files", "--others", "--exclude-standard", "-z").split("\0"))
    if (name !== "") out.set(name, [[1, Number.POSITIVE_INFINITY]]);
  return out;
}

function touches(mutant: Mutant, changed: ChangedLines): boolean {
  const ranges = changed.get(mutant.source.file);
  if (ranges === undefined) return false;
  const { start, end } = locationOf(mutant);
  const last = end.column === 1 && end.line > start.line ? end.line - 1 : end.line;
  return ranges.some(([from, to]) => start.line <= to && last >= from);
}

// --------------------------------------------------------------------------------------------------------------- threads

function partOf(text: string | undefined): { index: number; of: number } | undefined {
  if (text === undefined) return undefined;
  const m = /^(\d+)\/(\d+)$/.exec(text);
  const [index, of] = [Number(m?.[1]), Number(m?.[2])];
  if (m === null || index < 1 || index > of) throw new UsageError(`"${text}" is no part such as 1/2`);
  return { index: index - 1, of };
}

function threadsFor(
  asked: number | undefined,
  contracts: SweepOptions["contracts"],
  wanted: (mutant: Mutant, index: number) => boolean,
): number {
  if (asked !== undefined) {
    if (asked > 1 && !existsSync(launcher()))
      note("quorumlint: worker threads need the built program; one thread is used");
    return existsSync(launcher()) ? Math.max(1, Math.min(asked, 64)) : 1;
  }
  if (!existsSync(launcher())) return 1;
  const count = allMutants(contracts).mutants.filter(wanted).length;
  return Math.max(1, Math.min(availableParallelism(), 4, Math.floor(count / MUTANTS_PER_THREAD)));
}

/** The program's start; beside the bundle only. */
function launcher(): string {
  return join(import.meta.dirname, "../bin/quorumlint.js");
}

interface Message {
  readonly done: number;
  readonly total: number;
  readonly verdicts?: readonly (readonly [id: string, verdict: Verdict])[];
}

async function inWorker(options: SweepOptions): Promise<number> {
  let stopped = false;
  parentPort?.on("message", () => {
    stopped = true;
  });
  const result = await sweep({
    ...options,
    equivalents: [],
    tick: async (done, total) => {
      if (done % 64 === 0) {
        parentPort?.postMessage({ done, total } satisfies Message);
        await breathe();
      }
      return !stopped;
    },
  });
  const verdicts = result.results
    .filter((r) => r.status !== "Pending")
    .map(({ mutant, status, killedBy, coveredBy, reason }): [string, Verdict] => [
      mutant.id,
      { status, killedBy, coveredBy, reason },
    ]);
  parentPort?.postMessage({ done: result.results.length, total: result.results.length, verdicts } satisfies Message);
  parentPort?.close();
  return 0;
}

/** Each worker runs this command for its part; the parts are put together in the order of the mutants. */
async function inThreads(
  options: SweepOptions,
  threads: number,
  argv: readonly string[],
  progress: Progress,
): Promise<Sweep> {
  const verdicts = new Map<string, Verdict>();
  const done = new Array<number>(threads).fill(0);
  const total = new Array<number>(threads).fill(0);
  const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);
  await Promise.all(
    done.map(
      (_, i) =>
        new Promise<void>((resolve, reject) => {
          const worker = new Worker(launcher(), { argv: [...argv, "--part", `${i + 1}/${threads}`] });
          worker.on("message", (message: Message) => {
            done[i] = message.done;
            total[i] = message.total;
            for (const [id, verdict] of message.verdicts ?? []) verdicts.set(id, verdict);
            void progress.tick(sum(done), sum(total)).then((on) => {
              if (!on) worker.postMessage("stop");
            });
          });
          worker.on("error", reject);
          worker.on("exit", () => resolve());
        }),
    ),
  );
  return sweep({ ...options, verdicts });
}

// -------------------------------------------------------------------------------------------------------------- progress

function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A bar on a terminal, a line now and then elsewhere; on standard error. */
class Progress {
  readonly #terminal = process.stderr.isTTY === true;
  readonly #start = performance.now();
  #shown = 0;
  #breath = 0;
  #stopped = false;

  /** Ctrl-C: what is done is printed. */
  stop(): void {
    this.#stopped = true;
  }

  async tick(done: number, total: number): Promise<boolean> {
    const now = performance.now();
    // signals are heard only between two turns
    if (now - this.#breath > 50) {
      this.#breath = now;
      await breathe();
    }
    if (now - this.#shown > (this.#terminal ? 100 : 10_000)) {
      if (this.#shown > 0 || this.#terminal) this.#show(done, total, now);
      this.#shown = now;
    }
    return !this.#stopped;
  }

  #show(done: number, total: number, now: number): void {
    const share = total === 0 ? 1 : done / total;
    const left = done === 0 ? undefined : Math.ceil(((now - this.#start) / done) * (total - done) * 0.001);
    const eta = left === undefined ? "" : `, ${left} s left`;
    if (!this.#terminal) {
      note(`quorumlint: ${done} of ${total} mutants${eta}`);
      return;
    }
    const width = Math.max(10, Math.min(40, (process.stderr.columns ?? 80) - 50));
    const full = Math.round(share * width);
    process.stderr.write(
      `\r[${"█".repeat(full)}${"·".repeat(width - full)}] ${done} of ${total} mutants${eta}\u001b[K`,
    );
  }

  end(): void {
    if (this.#terminal) process.stderr.write("\r\u001b[K");
  }
}

// ---------------------------------------------------------------------------------------------------------------- output

function reportElement(): string {
  const name = "mutation-test-elements.js";
  const places = [
    join(import.meta.dirname, name),
    join(import.meta.dirname, "../../node_modules/mutation-testing-elements/dist", name),
    join(import.meta.dirname, "../node_modules/mutation-testing-elements/dist", name),
  ];
  const found = places.find((p) => existsSync(p));
  if (found === undefined)
    throw new UsageError(`the html report needs ${name}, which is not in ${import.meta.dirname}`);
  return readFileSync(found, "utf8");
}

const MAX_GAPS = 40;

function pretty(result: Sweep, coverage: Coverage, flags: SweepFlags, c: Colours): string {
  const { counts, score, files, rules: byRule, gaps } = coverage;
  const lines: string[] = [];
  const width = Math.max(4, ...files.map((f) => f.file.length));
  lines.push(c.bold("Contract coverage by file"), "");
  lines.push(c.dim(`${"file".padEnd(width)}  guarded  unguarded  unread  ignored  invalid   score`));
  for (const { file, counts: n, score: own } of files) {
    const invalid = n.CompileError + n.RuntimeError;
    lines.push(
      `${file.padEnd(width)}  ${cell(n.Killed, 7)}  ${cell(n.Survived, 9)}  ${cell(n.NoCoverage, 6)}  ${cell(n.Ignored, 7)}  ${cell(invalid, 7)}  ${scoreText(own).padStart(6)}`,
    );
  }
  for (const file of result.untouched) lines.push(c.dim(`${file.padEnd(width)}  nothing to mutate`));
  const guards = byRule
    .filter((r) => r.kills > 0 || r.missed > 0)
    .sort((a, b) => b.kills - a.kills || (a.rule < b.rule ? -1 : 1));
  const ruleWidth = Math.max(4, ...guards.map((r) => r.rule.length));
  const all = flags.allKillers === true;
  const columns = all ? "kills  alone" : "kills first";
  lines.push("", c.bold("By rule"), "", c.dim(`${"rule".padEnd(ruleWidth)}  ${columns}  read but missed`));
  for (const r of guards) {
    const kills = all ? `${cell(r.kills, 5)}  ${cell(r.alone, 5)}` : cell(r.kills, 11);
    lines.push(`${r.rule.padEnd(ruleWidth)}  ${kills}  ${cell(r.missed, 15)}`);
  }
  if (!all) lines.push(c.dim("the first rule that reports a mutant ends its judging; --all-killers shows all that do"));
  const idle = byRule.filter((r) => r.kills === 0 && r.missed === 0).map((r) => r.rule);
  if (idle.length > 0 && flags.since === undefined) lines.push(c.dim(`no place of this contract: ${idle.join(", ")}`));
  if (gaps.length > 0) {
    lines.push("", c.bold("Unguarded fields"), "");
    for (const gap of gaps.slice(0, MAX_GAPS)) {
      const mutators = [...new Set(gap.survivors.map((s) => s.mutant.mutator))].sort().join(", ");
      const hint = gap.nearest === undefined ? "" : c.dim(`  nearest: ${gap.nearest}`);
      const unread = gap.unread ? c.yellow(" (no rule reads it)") : "";
      lines.push(`${String(gap.survivors.length).padStart(4)}  ${c.cyan(gap.field)}${unread}${hint}`);
      const { mutant } = gap.survivors[0]!;
      const { before, after } = readableDiff(mutant);
      lines.push(c.dim(`      ${gap.file}:${locationOf(mutant).start.line}  ${mutators}`));
      lines.push(c.red(`      - ${before.trim().split("\n")[0]}`), c.green(`      + ${after.trim().split("\n")[0]}`));
    }
    if (gaps.length > MAX_GAPS)
      lines.push(c.dim(`      and ${gaps.length - MAX_GAPS} more fields (--format json lists all)`));
  }
  for (const { entry, mutant } of result.stale)
    lines.push(
      c.red(
        mutant === undefined
          ? `declared as equivalent, but there is no such mutant: ${entry.file} ${entry.field} ${entry.mutators.join(", ")}`
          : `declared as equivalent, but reported: ${entry.file} ${entry.field} ${mutant.mutator} → ${mutant.newText}`,
      ),
    );
  const valid = counts.Killed + counts.Survived + counts.NoCoverage;
  const unreadShare = valid === 0 ? 0 : (counts.NoCoverage / valid) * 100;
  lines.push(
    "",
    `${counts.Killed} killed, ${counts.Survived} survived, ${counts.NoCoverage} at fields that no rule reads (${unreadShare.toFixed(1)} %), ${counts.Ignored} ignored, ${counts.CompileError} invalid${counts.RuntimeError > 0 ? `, ${counts.RuntimeError} crashed a rule` : ""}${counts.Pending > 0 ? `, ${counts.Pending} not judged` : ""}`,
    `score ${scoreText(score)}${flags.minScore === undefined ? "" : ` (wanted: at least ${flags.minScore} %)`}`,
  );
  return lines.join("\n");
}

function cell(n: number, width: number): string {
  return (n === 0 ? "·" : String(n)).padStart(width);
}

function scoreText(score: number | undefined): string {
  // never rounded up to a promise that does not hold
  return score === undefined ? "–" : `${(Math.floor(score * 10) / 10).toFixed(1)} %`;
}
