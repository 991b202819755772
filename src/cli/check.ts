/** `quorumlint check`: the main job. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { rules } from "../../rules/index.js";
import { type CheckOptions, type CheckRun, check } from "../contract/check.js";
import { CONFIG_NAMES } from "../contract/config.js";
import { Glob } from "../contract/glob.js";
import type { Host } from "../contract/host.js";
import { KeptHost } from "../contract/kept.js";
import { memoryHost } from "../contract/memory.js";
import type { Shard } from "../contract/shard.js";
import { applyBaseline, BaselineError, parseBaseline, printBaseline, updateBaseline } from "../engine/baseline.js";
import { type Diagnostic, severityRank } from "../engine/diagnostic.js";
import { type LintResult, summarize } from "../engine/result.js";
import { FORMATS, type Format, isFormat, render } from "../reporter/index.js";
import { paletteOf, type ReportContext } from "../reporter/shared.js";
import { didYouMean } from "../text/similar.js";
import { Source } from "../text/source.js";
import { VERSION } from "../version.js";
import type { Put } from "./cache.js";
import { disk } from "./disk.js";
import { ruleUrl } from "./links.js";
import { clock, colorOption, isTerminal, NONE, note, palette, print, writeTo } from "./output.js";
import { prepareParsers } from "./parsers.js";
import { COMMANDS, UsageError } from "./usage.js";

export interface CheckFlags {
  readonly config?: string;
  readonly format?: readonly string[];
  readonly rule?: readonly string[];
  readonly skip?: readonly string[];
  readonly failOn: "error" | "warning" | "info" | "never";
  readonly maxWarnings?: number;
  readonly baseline?: string;
  readonly updateBaseline?: boolean;
  readonly fix?: boolean;
  readonly fixDryRun?: boolean;
  readonly cache?: boolean;
  readonly cacheLocation?: string;
  readonly shard?: string;
  readonly watch?: boolean;
  readonly stdinFilename?: string;
  readonly today?: string;
  readonly quiet?: boolean;
  readonly color?: boolean;
  readonly strictDiscovery?: boolean;
}

/** Which rules run, from `--rule` and `--skip`; a pattern that names no rule is a mistake. */
export function selection(
  only: readonly string[] | undefined,
  skip: readonly string[] | undefined,
): ((id: string) => boolean) | undefined {
  if (only === undefined && skip === undefined) return undefined;
  const ids = rules.map((r) => r.id);
  const globs = (patterns: readonly string[] | undefined): Glob[] =>
    (patterns ?? []).map((p) => {
      const glob = new Glob(p);
      if (!ids.some((id) => glob.matches(id))) throw new UsageError(`no rule matches "${p}"${didYouMean(p, ids)}`);
      return glob;
    });
  const wanted = globs(only);
  const unwanted = globs(skip);
  return (id) => (wanted.length === 0 || wanted.some((g) => g.matches(id))) && !unwanted.some((g) => g.matches(id));
}

interface Output {
  readonly format: Format;
  readonly file: string | undefined;
}

function outputs(formats: readonly string[] | undefined): Output[] {
  return (formats ?? ["pretty"]).map((text) => {
    const equals = text.indexOf("=");
    const format = equals < 0 ? text : text.slice(0, equals);
    if (!isFormat(format))
      throw new UsageError(
        `there is no format "${format}"${didYouMean(format, FORMATS)}; formats are ${FORMATS.join(", ")}`,
      );
    return { format, file: equals < 0 ? undefined : text.slice(equals + 1) };
  });
}

export function absolute(path: string): string {
  const full = resolve(path).replaceAll("\\", "/");
  return full.length > 1 && full.endsWith("/") ? full.slice(0, -1) : full;
}

/** `2/5`: the second of five parts. */
function shardOf(text: string | undefined): Shard | undefined {
  if (text === undefined) return undefined;
  const found = /^(\d{1,6})\/(\d{1,6})$/.exec(text);
  const shard = { index: Number(found?.[1]), count: Number(found?.[2]) };
  if (found === null || shard.index < 1 || shard.index > shard.count)
    throw new UsageError(`--shard ${text} is no part such as 2/5`);
  return shard;
}

/** Where a run puts what it has to say; `puts` is what a cache keeps of it. */
class Out {
  readonly puts: Put[] = [];

  note(text: string): void {
    this.puts.push({ to: 2, text });
    note(text);
  }

  print(text: string): void {
    this.puts.push({ to: 1, text });
    print(text);
  }

  file(path: string, text: string): void {
    this.puts.push({ to: path, text });
    mkdirSync(dirname(resolve(path)), { recursive: true });
    writeFileSync(path, text);
  }

  again(puts: readonly Put[]): void {
    for (const { to, text } of puts) {
      if (to === 1) this.print(text);
      else if (to === 2) this.note(text);
      else this.file(to, text);
    }
  }
}

async function standardInput(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export async function checkCommand(paths: readonly string[], flags: CheckFlags): Promise<number> {
  // a diff alone can be given to `git apply`
  const wanted = flags.fixDryRun === true && flags.format === undefined ? [] : outputs(flags.format);
  const selected = selection(flags.rule, flags.skip);
  if (flags.updateBaseline === true && flags.baseline === undefined)
    throw new UsageError("--update-baseline needs --baseline FILE");
  let host: Host = disk;
  let targets = paths.length === 0 ? ["."] : [...paths];
  if (targets.includes("-")) {
    if (targets.length > 1) throw new UsageError("- (standard input) cannot be mixed with other paths");
    const name = flags.stdinFilename ?? "stdin.yaml";
    host = memoryHost(new Map([[name, await standardInput()]]), "/stdin");
    targets = ["/stdin"];
  } else {
    // a mistyped command is taken for a path of the default one
    const first = paths[0] ?? "";
    const meant = /^\w+$/.test(first) && !existsSync(first) ? didYouMean(first, COMMANDS) : "";
    if (meant !== "") throw new UsageError(`there is no command, file or directory "${first}"${meant}`);
    targets = targets.map(absolute);
  }
  const shard = shardOf(flags.shard);
  if (shard !== undefined && (flags.fix === true || flags.fixDryRun === true || flags.updateBaseline === true))
    throw new UsageError("--shard sees a part only: it goes with neither --fix nor --update-baseline");
  const options = (): CheckOptions => ({
    rules,
    today: flags.today ?? clock(),
    version: VERSION,
    selected,
    config: flags.config === undefined ? undefined : absolute(flags.config),
    strictDiscovery: flags.strictDiscovery,
    shard,
    prepare: prepareParsers,
  });
  if (flags.watch === true) return watchCheck(targets, options, wanted, flags);
  const now = options();
  const out = new Out();
  const cache = await cacheOf(host, targets, now, wanted, flags);
  const kept = cache?.find();
  if (kept !== undefined) {
    out.again(kept.puts);
    return kept.code;
  }
  const from = cache?.host ?? host;
  const code = await finish(await check(from, targets, now), from, targets, now, wanted, flags, out);
  // a bug of ours is looked at anew each time
  if (code !== 3) cache?.keep({ code, puts: out.puts });
  return code;
}

/** Runs that change nothing may be kept; everything that they hang on beside files is in the key. */
async function cacheOf(
  host: Host,
  targets: readonly string[],
  options: CheckOptions,
  wanted: readonly Output[],
  flags: CheckFlags,
) {
  if (flags.cache !== true && flags.cacheLocation === undefined) return undefined;
  if (host !== disk || flags.fix === true || flags.fixDryRun === true || flags.updateBaseline === true)
    return undefined;
  const { RunCache, defaultLocation } = await import("./cache.js");
  const terminal = await isTerminal(1);
  const { rule, skip, failOn, maxWarnings, quiet, baseline } = flags;
  const key = [
    [VERSION, options.today, process.cwd(), targets, options.config, options.shard, options.strictDiscovery],
    [rule, skip, failOn, maxWarnings, quiet, wanted],
    [(await palette(colorOption(flags))).level, terminal, terminal ? process.stdout.columns : undefined],
    baseline === undefined ? undefined : [baseline, existsSync(baseline) ? readFileSync(baseline, "utf8") : undefined],
  ];
  return new RunCache(absolute(flags.cacheLocation ?? defaultLocation()), key, disk);
}

/** Repairs where that was asked for, and prints; the exit code. */
async function finish(
  checked: CheckRun,
  host: Host,
  targets: readonly string[],
  options: CheckOptions,
  wanted: readonly Output[],
  flags: CheckFlags,
  out = new Out(),
): Promise<number> {
  let run = checked;
  if (run.faults.length > 0) {
    for (const fault of run.faults) out.note(`quorumlint: ${fault}`);
    return 2;
  }
  for (const text of run.notes) out.note(`quorumlint: ${text}`);
  if (flags.fix === true || flags.fixDryRun === true) {
    const { fix } = await import("./fix.js");
    run = await fix(run, host, targets, options, flags.fixDryRun === true);
  }
  const result = withBaseline(run.result, flags, out);
  for (const crash of result.crashes)
    out.note(
      `quorumlint: this is a bug of quorumlint: rule ${crash.rule} crashed on ${crash.file} (contract ${crash.contract}): ${crash.error.stack ?? crash.error.message}`,
    );
  await write(wanted, result, run, flags, out);
  return exitCode(result, flags);
}

/** Checks again at every change; what did not change is not read anew. */
async function watchCheck(
  targets: readonly string[],
  options: () => CheckOptions,
  wanted: readonly Output[],
  flags: CheckFlags,
): Promise<number> {
  if (targets.includes("/stdin")) throw new UsageError("--watch needs files, not standard input");
  if (flags.fix === true || flags.fixDryRun === true || flags.updateBaseline === true)
    throw new UsageError("--watch only looks: it goes with neither --fix nor --update-baseline");
  const missing = targets.find((target) => !existsSync(target));
  if (missing !== undefined) throw new UsageError(`there is no file or directory ${missing}`);
  const { watchAndRun } = await import("./watch.js");
  const host = new KeptHost(disk);
  const terminal = wanted.some((w) => w.file === undefined) && (await isTerminal(1));
  let before = "";
  return watchAndRun({
    paths: flags.config === undefined ? targets : [...targets, absolute(flags.config)],
    own: wanted.flatMap((w) => (w.file === undefined ? [] : [absolute(w.file)])),
    run: async (first) => {
      const run = await check(host, targets, options());
      const state = `${host.changes}\n${run.result.inputs.map((i) => i.file).join("\n")}\n${run.faults.join("\n")}`;
      if (state !== before) {
        before = state;
        if (terminal && !first) writeTo(1, "\x1b[2J\x1b[3J\x1b[H");
        if (!first) note("quorumlint: something changed");
        await finish(run, host, targets, options(), wanted, flags);
      }
      // a contract file that cannot be read gives no root, and its repair must be seen all the same
      return run.roots.length > 0 ? run.roots.map((r) => r.root) : targets.flatMap(contractFileAbove);
    },
  });
}

function contractFileAbove(target: string): string[] {
  for (let at = target; ; at = dirname(at)) {
    const found = CONFIG_NAMES.map((name) => join(at, name)).find((file) => existsSync(file));
    if (found !== undefined) return [found];
    if (at === dirname(at)) return [];
  }
}

function exitCode(result: LintResult, flags: CheckFlags): number {
  if (result.crashes.length > 0) return 3;
  const { failOn, maxWarnings } = flags;
  if (maxWarnings !== undefined && result.summary.warnings > maxWarnings) return 1;
  if (failOn === "never") return 0;
  // an explicit budget of warnings takes their place in --fail-on
  const limit = maxWarnings !== undefined && failOn === "warning" ? "error" : failOn;
  return result.diagnostics.some((d) => severityRank(d.severity) >= severityRank(limit)) ? 1 : 0;
}

async function write(
  wanted: readonly Output[],
  result: LintResult,
  run: CheckRun,
  flags: CheckFlags,
  out: Out,
): Promise<void> {
  const colour = await palette(colorOption(flags));
  const terminal = await isTerminal(1);
  const root = run.roots.length === 1 ? run.roots[0]!.root : undefined;
  const shown =
    flags.quiet === true
      ? { ...result, diagnostics: result.diagnostics.filter((d) => d.severity === "error") }
      : result;
  for (const { format, file } of wanted) {
    const color = paletteOf(file === undefined ? colour : NONE, file === undefined && colour.level > 0 && terminal);
    const context: ReportContext = {
      rules: new Map(rules.map((r) => [r.id, r])),
      color,
      urlOf: ruleUrl,
      width: file === undefined && terminal ? process.stdout.columns : undefined,
      // people and annotations want paths from where they stand; the JSON result speaks of the contract's root
      shard: shardOf(flags.shard),
      pathOf: format === "json" || root === undefined ? undefined : (path) => fromHere(root, path),
    };
    const text = await render(format, shown, context);
    if (file === undefined) out.print(text);
    else out.file(file, text);
  }
}

export function fromHere(root: string, path: string): string {
  if (root === "/stdin") return path;
  const here = relative(process.cwd(), join(root, path)).replaceAll("\\", "/");
  return here.startsWith("..") || isAbsolute(here) ? join(root, path).replaceAll("\\", "/") : here;
}

function withBaseline(result: LintResult, flags: CheckFlags, out: Out): LintResult {
  if (flags.baseline === undefined) return result;
  const file = flags.baseline;
  const exists = existsSync(file);
  if (!exists && flags.updateBaseline !== true)
    throw new UsageError(`there is no baseline ${file}; --update-baseline makes one`);
  try {
    const before = exists ? parseBaseline(new Source(file, readFileSync(file, "utf8"))) : undefined;
    const now = flags.updateBaseline === true ? updateBaseline(before, result.diagnostics) : before!;
    if (flags.updateBaseline === true) writeFileSync(file, printBaseline(now));
    const { active, baselined, stale } = applyBaseline(result.diagnostics, now);
    if (stale.length > 0 && flags.shard === undefined)
      out.note(
        `quorumlint: ${stale.length} entr${stale.length === 1 ? "y" : "ies"} of ${file} are repaired; --update-baseline takes them out`,
      );
    const suppressed: Diagnostic[] = [...result.suppressed, ...baselined];
    const { contracts, files, documents, rules: count } = result.summary;
    return {
      ...result,
      diagnostics: active,
      suppressed,
      summary: summarize({ contracts, files, documents, rules: count }, active, suppressed),
    };
  } catch (error) {
    if (!(error instanceof BaselineError)) throw error;
    const { line, column } = error.at.source.position(error.at.start);
    throw new UsageError(`${file}:${line}:${column}: ${error.message}`);
  }
}
