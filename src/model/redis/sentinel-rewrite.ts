import { type ConfArgument, splitArgs } from "../../document/redis-conf.js";
import type { Loading } from "./conf-load.js";
import { atoi, numericHost } from "./conf-types.js";
import { sentinelOption } from "./directives.js";
import type { Global, Line, Master, SentinelSetting } from "./sentinel-conf.js";

export const SENTINEL_DEFAULTS = { downAfter: 30000, failoverTimeout: 180000, parallelSyncs: 1 } as const;

/** A line of the rewritten file: its text and the line that it comes from. */
export interface Emitted {
  readonly option: string;
  readonly words: readonly string[];
  readonly text: string;
  readonly line: Line;
  /** A word with a placeholder: how it will be read is not known. */
  readonly opaque: boolean;
}

/** What a Sentinel knows when it writes its file. */
export interface SentinelState {
  readonly masters: ReadonlyMap<string, Master>;
  readonly globals: ReadonlyMap<string, Global>;
  /** `announce-hostnames yes`; undefined: not known. */
  readonly announcesNames: boolean | undefined;
}

export class SentinelRewrite {
  readonly #loading: Loading;
  readonly #state: SentinelState;

  constructor(loading: Loading, state: SentinelState) {
    this.#loading = loading;
    this.#state = state;
  }

  /**
   * What the Sentinel writes back into its main file, and how it reads that at the next start: values are written without
   * quotes (before Valkey 9.1), and what came from an include is written beside it.
   */
  emit(): readonly Emitted[] {
    const { dialect } = this.#loading;
    const emitted: Emitted[] = [];
    const emit = (line: Line, option: string, words: readonly (string | Quoted)[], opaque = false): void => {
      const plain = words.map((w) => (typeof w === "string" ? w : w.value));
      const text = ["sentinel", option, ...words.map((w) => (typeof w === "string" ? w : repr(w.value)))].join(" ");
      emitted.push({ option, words: ["sentinel", option, ...plain], text, line, opaque });
    };
    const quoted = (arg: ConfArgument): string | Quoted => (dialect.valkey91 ? { value: arg.value } : arg.value);
    const opaque = (...args: readonly (ConfArgument | undefined)[]): boolean =>
      args.some((a) => a?.placeholder !== "none");
    const flags: readonly (readonly [string, string])[] = [
      ["deny-scripts-reconfig", "yes"],
      ["resolve-hostnames", "no"],
      ["announce-hostnames", "no"],
    ];
    for (const [option, fallback] of flags) {
      const global = this.#state.globals.get(option);
      if (global !== undefined && global.setting.value !== fallback)
        emit(global.line, option, [global.setting.value], global.setting.placeholder !== "none");
    }
    const names = this.#state.announcesNames;
    for (const master of this.#state.masters.values()) {
      const [name, host, port, quorum] = master.line.args as [ConfArgument, ConfArgument, ConfArgument, ConfArgument];
      const shown = (h: ConfArgument): { text: string; opaque: boolean } => {
        const address = numericHost(h.value);
        if (address === undefined && names !== true) return { text: h.value, opaque: true };
        return {
          text: names === true || address === undefined ? h.value : numericHost(h.value)!,
          opaque: h.placeholder !== "none",
        };
      };
      const number = (arg: ConfArgument): string =>
        arg.placeholder === "none" ? atoi(arg.value).toString() : arg.value;
      const hidden = name.placeholder !== "none";
      const at = shown(host);
      emit(
        master.line,
        "monitor",
        [name.value, at.text, number(port), number(quorum)],
        hidden || at.opaque || opaque(port, quorum),
      );
      const numbers: readonly (readonly [string, SentinelSetting | undefined, number])[] = [
        ["down-after-milliseconds", master.downAfter, SENTINEL_DEFAULTS.downAfter],
        ["failover-timeout", master.failoverTimeout, SENTINEL_DEFAULTS.failoverTimeout],
        ["parallel-syncs", master.parallelSyncs, SENTINEL_DEFAULTS.parallelSyncs],
      ];
      for (const [option, setting, fallback] of numbers) {
        if (setting === undefined || setting.number === fallback) continue;
        emit(
          master.lines.get(option)!,
          option,
          [name.value, setting.number?.toString() ?? setting.value],
          hidden || setting.number === undefined,
        );
      }
      for (const option of ["notification-script", "client-reconfig-script", "auth-pass", "auth-user"]) {
        const line = master.lines.get(option);
        if (line !== undefined) emit(line, option, [name.value, quoted(line.args[1]!)], hidden || opaque(line.args[1]));
      }
      const reboot = master.rebootDownAfter;
      if (reboot !== undefined && reboot.number !== 0) {
        const line =
          master.lines.get("master-reboot-down-after-period") ?? master.lines.get("primary-reboot-down-after-period")!;
        const option = dialect.valkey8 ? "primary-reboot-down-after-period" : "master-reboot-down-after-period";
        emit(
          line,
          option,
          [name.value, reboot.number?.toString() ?? reboot.value],
          hidden || reboot.number === undefined,
        );
      }
      for (const epoch of ["config-epoch", "leader-epoch"]) {
        const line = master.lines.get(epoch);
        const value = line === undefined ? "0" : unsigned(line.args[1]!.value);
        emit(line ?? master.line, epoch, [name.value, value], hidden || (line !== undefined && opaque(line.args[1])));
      }
      for (const line of master.replicas.values()) {
        const address = shown(line.args[1]!);
        emit(line, "known-replica", [name.value, address.text, number(line.args[2]!)], hidden || address.opaque);
      }
      for (const line of master.sentinels.values()) {
        const address = shown(line.args[1]!);
        emit(
          line,
          "known-sentinel",
          [name.value, address.text, number(line.args[2]!), quoted(line.args[3]!)],
          hidden || address.opaque,
        );
      }
      for (const line of master.renameLines.values()) {
        const [, from, to] = line.args as [ConfArgument, ConfArgument, ConfArgument];
        emit(line, "rename-command", [name.value, quoted(from), quoted(to)], hidden || opaque(from, to));
      }
    }
    for (const option of ["announce-ip", "announce-port", "sentinel-user", "sentinel-pass"]) {
      const global = this.#state.globals.get(option);
      if (global === undefined || global.setting.number === 0) continue;
      const arg = global.line.args[0]!;
      const word =
        option === "announce-ip"
          ? { value: arg.value }
          : option === "announce-port"
            ? (global.setting.number?.toString() ?? arg.value)
            : quoted(arg);
      emit(global.line, option, [word], opaque(arg));
    }
    return emitted;
  }

  /** What of it the Sentinel reads otherwise, or not at all, when it starts again. */
  judge(emitted: readonly Emitted[]): void {
    const blamed = new Set<Line>();
    for (const e of emitted) {
      if (e.opaque || blamed.has(e.line) || !e.words.some(needsQuotes)) continue;
      const { words, problem } = splitArgs(e.text.trim());
      const read = words.map((w) => w.value);
      // `known-sentinel` also stands without its last word.
      const counts = sentinelOption(this.#loading.input.server, e.option) ?? [];
      const broken = problem !== undefined || e.text.includes("\n") || !counts.includes(read.length - 2);
      if (!broken && read.length === e.words.length && read.every((w, i) => w === e.words[i])) continue;
      blamed.add(e.line);
      // The name of a primary stands in each of its lines: it is the monitor line's fault.
      const name = e.option !== "announce-ip" && e.words[2] !== undefined ? e.line.args[0] : undefined;
      const nameBroken = name !== undefined && e.words.length > 3 && needsQuotes(name.value);
      if (nameBroken && e.option !== "monitor") continue;
      const arg = nameBroken ? name : e.line.args.find((a) => needsQuotes(a.value));
      this.#loading.report(e.line.loaded, {
        code: broken ? "rewrite-unquoted" : "rewrite-changed",
        class: broken ? "restart" : "silent",
        topic: "sentinel",
        message: broken
          ? `the Sentinel writes \`${arg?.value ?? ""}\` back without quotes, and does not start again on that line`
          : `the Sentinel writes \`${arg?.value ?? ""}\` back without quotes, and reads another value at its next start`,
        server: !broken
          ? undefined
          : problem === undefined
            ? "Unrecognized sentinel configuration statement."
            : "Unbalanced quotes in configuration line",
        at: arg?.at,
      });
    }
    this.#judgeIncluded(emitted);
    this.#judgeKnownSlave();
  }

  /** Lines of an include stay there, and are written into the main file too: read twice, some are fatal. */
  #judgeIncluded(emitted: readonly Emitted[]): void {
    const errors: Record<string, string> = {
      monitor: "Duplicate master name.",
      "known-replica": "Duplicate hostname and port for replica.",
      "known-sentinel": "Duplicate runid for sentinel.",
      "rename-command": "Same command renamed multiple times with rename-command.",
    };
    for (const e of emitted) {
      const error = errors[e.option];
      if (error === undefined || !e.line.loaded.included) continue;
      this.#loading.report(e.line.loaded, {
        code: "rewrite-include",
        class: "restart",
        topic: "include",
        message: `\`sentinel ${e.option}\` stands in an included file: the Sentinel writes it into its main file as well, and does not start again`,
        server: error,
      });
    }
  }

  /** Before 7.2 `known-slave` stays beside the `known-replica` that is written for it. */
  #judgeKnownSlave(): void {
    if (this.#loading.dialect.v72) return;
    for (const master of this.#state.masters.values()) {
      for (const line of master.replicas.values()) {
        if (line.option !== "known-slave" || line.loaded.included) continue;
        this.#loading.report(line.loaded, {
          code: "rewrite-known-slave",
          class: "restart",
          topic: "sentinel",
          message: "the Sentinel writes `known-replica` beside `known-slave`, and does not start again",
          server: "Duplicate hostname and port for replica.",
          right: undefined,
        });
      }
    }
  }
}

interface Quoted {
  readonly value: string;
}

function needsQuotes(text: string): boolean {
  return text === "" || /[\s"'\x00-\x1f]/.test(text);
}

/** `strtoull`, printed. */
function unsigned(text: string): string {
  const found = /^\s*([+-]?)(\d+)/.exec(text);
  if (found === null) return "0";
  const most = (1n << 64n) - 1n;
  const value = found[2]!.length > 25 ? most : BigInt(found[2]!) > most ? most : BigInt(found[2]!);
  return (found[1] === "-" ? BigInt.asUintN(64, -value) : value).toString();
}

/** `sdscatrepr`. */
function repr(text: string): string {
  const escapes: Record<string, string> = {
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\b": "\\b",
    "\x07": "\\a",
    '"': '\\"',
    "\\": "\\\\",
  };
  return `"${text.replace(/[\\"\x00-\x1f]/g, (c) => escapes[c] ?? `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`)}"`;
}
