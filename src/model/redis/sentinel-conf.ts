import type { ConfArgument, PlaceholderKind } from "../../document/redis-conf.js";
import type { Span } from "../../text/source.js";
import type { Loaded, Loading } from "./conf-load.js";
import { atoi, isPlainInteger, numericHost, strtol, yesNo } from "./conf-types.js";
import { knownSentinelOptions, nearest, sentinelOption } from "./directives.js";
import { SentinelRewrite } from "./sentinel-rewrite.js";

export { SENTINEL_DEFAULTS } from "./sentinel-rewrite.js";

/**
 * `sentinel …` lines. From 6.2 on they are queued and run in three rounds, each in file order: what concerns the Sentinel
 * itself (`resolve-hostnames`, `announce-ip` …), then `monitor`, then the rest. Numbers are read with `atoi`: what is no
 * number is 0, what follows the digits is ignored.
 */

/** A value of a Sentinel line. */
export interface SentinelSetting {
  readonly value: string;
  /** As the server reads it; undefined for a text, and where a placeholder stands. */
  readonly number: number | undefined;
  readonly placeholder: PlaceholderKind;
  readonly at: Span;
  /** The whole line. */
  readonly line: Span;
}

export interface SentinelMaster {
  readonly name: string;
  readonly nameAt: Span;
  /** The name is a placeholder. */
  readonly namePlaceholder: PlaceholderKind;
  /** The `monitor` line. */
  readonly at: Span;
  readonly host: SentinelSetting;
  readonly port: SentinelSetting;
  readonly quorum: SentinelSetting;
  /** Milliseconds; the server's default is 30000. */
  downAfter: SentinelSetting | undefined;
  /** Milliseconds; default 180000. */
  failoverTimeout: SentinelSetting | undefined;
  /** Default 1. */
  parallelSyncs: SentinelSetting | undefined;
  authUser: SentinelSetting | undefined;
  authPass: SentinelSetting | undefined;
  notificationScript: SentinelSetting | undefined;
  clientReconfigScript: SentinelSetting | undefined;
  rebootDownAfter: SentinelSetting | undefined;
  readonly renames: { readonly from: string; readonly to: string; readonly at: Span; readonly placeholder: boolean }[];
}

export interface SentinelFacts {
  /** By name; a placeholder's name is its text. */
  readonly masters: ReadonlyMap<string, SentinelMaster>;
  /** No template gap, script or include may add a `sentinel` line. */
  readonly complete: boolean;
  /** Options of lines for a primary that a placeholder hides: they may be those of any. */
  readonly unattributed: ReadonlySet<string>;
  readonly sentinelUser: SentinelSetting | undefined;
  readonly sentinelPass: SentinelSetting | undefined;
  readonly announceIp: SentinelSetting | undefined;
  readonly announcePort: SentinelSetting | undefined;
  readonly resolveHostnames: SentinelSetting | undefined;
  readonly announceHostnames: SentinelSetting | undefined;
  readonly denyScriptsReconfig: SentinelSetting | undefined;
  readonly myid: SentinelSetting | undefined;
  /** `yes`/`no` of an option, its default where nothing sets it; undefined: not known. */
  flag(option: "resolve-hostnames" | "announce-hostnames" | "deny-scripts-reconfig"): boolean | undefined;
  /** The `sentinel` lines that a Sentinel writes into its main file when it rewrites it, without ids that it makes up. */
  readonly rewritten: readonly string[];
}

/** Run before `monitor`, whatever their place. */
const BEFORE = new Set([
  "announce-ip",
  "announce-port",
  "deny-scripts-reconfig",
  "sentinel-user",
  "sentinel-pass",
  "current-epoch",
  "myid",
  "resolve-hostnames",
  "announce-hostnames",
]);

const RUN_ID = 40;

export interface Line {
  readonly loaded: Loaded;
  readonly option: string;
  readonly args: readonly ConfArgument[];
}

export interface Global {
  readonly setting: SentinelSetting;
  readonly line: Line;
}

export interface Master extends SentinelMaster {
  readonly line: Line;
  readonly lines: Map<string, Line>;
  readonly renameLines: Map<string, Line>;
  readonly replicas: Map<string, Line>;
  readonly sentinels: Map<string, Line>;
}

export function judgeSentinel(loading: Loading): SentinelFacts {
  return new SentinelLoading(loading).run();
}

class SentinelLoading {
  readonly #loading: Loading;
  readonly #masters = new Map<string, Master>();
  readonly #globals = new Map<string, Global>();
  readonly #lines: Line[] = [];
  #failed = false;
  #monitors: { opaque: boolean; attempted: ReadonlySet<string>; any: boolean } | undefined;

  constructor(loading: Loading) {
    this.#loading = loading;
  }

  run(): SentinelFacts {
    for (const loaded of this.#loading.sentinelLines) {
      const [option, ...args] = loaded.args;
      if (option!.placeholder !== "none") {
        this.#loading.gaps.push({ why: "placeholder", at: loaded.statement.at, names: undefined });
        continue;
      }
      this.#lines.push({ loaded, option: option!.value.toLowerCase(), args });
    }
    const rounds = [
      (o: string) => BEFORE.has(o),
      (o: string) => o === "monitor",
      (o: string) => !BEFORE.has(o) && o !== "monitor",
    ];
    for (const inRound of rounds) for (const line of this.#lines) if (inRound(line.option)) this.#run(line);
    this.#judgePairs();
    this.#judgeHosts();
    const rewrite = new SentinelRewrite(this.#loading, {
      masters: this.#masters,
      globals: this.#globals,
      announcesNames: this.#flag("announce-hostnames"),
    });
    const rewritten = rewrite.emit();
    // A Sentinel that does not start rewrites nothing.
    if (!this.#failed && this.#loading.loads !== false) rewrite.judge(rewritten);
    // With an id in the file the first start writes nothing: the fault waits for the first change of state.
    if (this.#globals.has("myid") && this.#loading.restarts === false) this.#loading.restarts = "unknown";
    const setting = (name: string): SentinelSetting | undefined => this.#globals.get(name)?.setting;
    return {
      masters: this.#masters,
      complete: this.#loading.closed,
      unattributed: this.#unattributed,
      sentinelUser: setting("sentinel-user"),
      sentinelPass: setting("sentinel-pass"),
      announceIp: setting("announce-ip"),
      announcePort: setting("announce-port"),
      resolveHostnames: setting("resolve-hostnames"),
      announceHostnames: setting("announce-hostnames"),
      denyScriptsReconfig: setting("deny-scripts-reconfig"),
      myid: setting("myid"),
      flag: (option) => this.#flag(option),
      rewritten: rewritten.map((e) => e.text),
    };
  }

  #report(line: Line, finding: Parameters<Loading["report"]>[1]): void {
    if (finding.class === "fatal") this.#failed = true;
    this.#loading.report(line.loaded, finding);
  }

  #run(line: Line): void {
    const { option, args } = line;
    const { server } = this.#loading.input;
    const counts = sentinelOption(server, option);
    if (counts === undefined) {
      const near = nearest(option, knownSentinelOptions(server));
      this.#report(line, {
        code: "sentinel-option",
        class: "fatal",
        topic: "sentinel",
        message: `${this.#loading.dialect.title} ${this.#loading.dialect.key.replace(/^\w+-/, "")} has no option \`sentinel ${option}\`${near === undefined ? "" : `; \`${near}\` is meant?`}`,
        server: "Unrecognized sentinel configuration statement.",
        right: near,
        at: line.loaded.args[0]!.at,
      });
      return;
    }
    if (!counts.includes(args.length)) {
      this.#wrongCount(line, counts);
      return;
    }
    if (option === "monitor") this.#monitor(line);
    else if (BEFORE.has(option)) this.#own(line);
    else this.#ofMaster(line);
  }

  #wrongCount(line: Line, counts: readonly number[]): void {
    const { option, args } = line;
    const flexible = args.filter((a) => a.splits).length;
    const most = Math.max(...counts);
    // Placeholders that render to several words, or to none, may make the count right.
    if (flexible > 0 && args.length - flexible <= most) {
      this.#loading.gaps.push({ why: "placeholder", at: line.loaded.statement.at, names: undefined });
      this.#loading.undecided();
      return;
    }
    const comment = args.findIndex((a) => a.value.startsWith("#"));
    const first = args[comment]?.at;
    const last = args.at(-1)?.at;
    if (first !== undefined && last !== undefined && first.source === last.source) {
      this.#report(line, {
        code: "trailing-comment",
        class: "fatal",
        topic: "directive",
        message: `\`#\` starts a comment only at the start of a line: here it is read as an argument of \`sentinel ${option}\``,
        server: "Unrecognized sentinel configuration statement.",
        right: "",
        at: { source: first.source, start: first.start, end: Math.max(first.end, last.end) },
      });
      return;
    }
    const needs = USAGE[option] ?? `${counts.join(" or ")} arguments`;
    this.#report(line, {
      code: "sentinel-arity",
      class: "fatal",
      topic: "sentinel",
      message: `\`sentinel ${option}\` takes ${needs}, not ${args.length} ${args.length === 1 ? "word" : "words"}`,
      server: "Unrecognized sentinel configuration statement.",
    });
  }

  #setting(line: Line, arg: ConfArgument, number = false): SentinelSetting {
    return {
      value: arg.value,
      number: number && arg.placeholder === "none" ? atoi(arg.value) : undefined,
      placeholder: arg.placeholder,
      at: arg.at,
      line: line.loaded.statement.at,
    };
  }

  #bad(
    line: Line,
    arg: ConfArgument,
    message: string,
    server: string,
    code: "sentinel-value" | "sentinel-script" = "sentinel-value",
  ): void {
    this.#report(line, { code, class: "fatal", topic: "sentinel", message, server, at: arg.at });
  }

  /** A number that the server reads otherwise than it is written; `unit`: what the number counts. */
  #misread(line: Line, arg: ConfArgument, what: string, unit: string): void {
    if (
      arg.placeholder !== "none" ||
      (isPlainInteger(arg.value) && BigInt(atoi(arg.value)) === strtol(arg.value).value)
    )
      return;
    const read = atoi(arg.value);
    const duration = unit === "milliseconds" ? milliseconds(arg.value) : undefined;
    this.#report(line, {
      code: "sentinel-misread",
      class: "silent",
      topic: "sentinel",
      message: `\`${arg.value}\` of \`sentinel ${what}\` is read as ${read}${unit === "" ? "" : ` ${unit}`}${duration === undefined ? "" : `, not as ${duration}`}`,
      right: duration?.toString(),
      at: arg.at,
    });
  }

  #monitor(line: Line): void {
    const [name, host, port, quorum] = line.args as [ConfArgument, ConfArgument, ConfArgument, ConfArgument];
    const before = this.#masters.get(name.value);
    if (quorum.placeholder === "none") {
      if (atoi(quorum.value) <= 0) {
        this.#bad(
          line,
          quorum,
          `the quorum \`${quorum.value}\` is read as ${atoi(quorum.value)}: it must be 1 at least`,
          "Quorum must be 1 or greater.",
        );
      } else this.#misread(line, quorum, "monitor", "Sentinels");
    }
    if (port.placeholder === "none") {
      const number = atoi(port.value);
      if (number < 0 || number > 65535) {
        this.#bad(line, port, `\`${port.value}\` is no port`, "Invalid port number.");
      } else if (number === 0) {
        this.#report(line, {
          code: "sentinel-misread",
          class: "silent",
          topic: "sentinel",
          message: `the port \`${port.value}\` is read as 0: the primary is never reached`,
          at: port.at,
        });
      } else this.#misread(line, port, "monitor", "");
    }
    if (host.placeholder === "none" && numericHost(host.value) === undefined) this.#hostname(line, host);
    if (before !== undefined && !before.line.loaded.conditional) {
      this.#report(line, {
        code: "sentinel-duplicate",
        class: "fatal",
        topic: "sentinel",
        message: `a primary of the name \`${name.value}\` is monitored already`,
        server: "Duplicate master name.",
        at: name.at,
        related: [{ at: before.at, message: "first monitored here" }],
        certain: name.placeholder === "none",
      });
      return;
    }
    this.#masters.set(name.value, {
      name: name.value,
      nameAt: name.at,
      namePlaceholder: name.placeholder,
      at: line.loaded.statement.at,
      host: this.#setting(line, host),
      port: this.#setting(line, port, true),
      quorum: this.#setting(line, quorum, true),
      downAfter: undefined,
      failoverTimeout: undefined,
      parallelSyncs: undefined,
      authUser: undefined,
      authPass: undefined,
      notificationScript: undefined,
      clientReconfigScript: undefined,
      rebootDownAfter: undefined,
      renames: [],
      line,
      lines: new Map(),
      renameLines: new Map(),
      replicas: new Map(),
      sentinels: new Map(),
    });
  }

  /** An option of the Sentinel itself. */
  #own(line: Line): void {
    const { option } = line;
    const arg = line.args[0]!;
    const before = this.#globals.get(option);
    if (before !== undefined && option !== "current-epoch") this.#repeated(line, before.line, `sentinel ${option}`);
    let setting = this.#setting(line, arg, option === "announce-port");
    if (arg.placeholder === "none") {
      if (/^(?:resolve-hostnames|announce-hostnames|deny-scripts-reconfig)$/.test(option)) {
        if (yesNo(arg.value) === undefined) {
          this.#report(line, {
            code: "sentinel-value",
            class: "fatal",
            topic: "sentinel",
            message: `\`sentinel ${option}\` is \`yes\` or \`no\`, not \`${arg.value}\``,
            server: `Please specify yes or no for the ${option} ${option === "deny-scripts-reconfig" ? "options" : "option"}.`,
            right: /^(?:true|on|1)$/i.test(arg.value)
              ? "yes"
              : /^(?:false|off|0|not)$/i.test(arg.value)
                ? "no"
                : undefined,
            at: arg.at,
          });
          return;
        }
        setting = { ...setting, value: arg.value.toLowerCase() };
      } else if (option === "myid") {
        if (byteLength(arg.value) !== RUN_ID) {
          this.#bad(
            line,
            arg,
            `\`sentinel myid\` is ${RUN_ID} characters long`,
            "Malformed Sentinel id in myid option.",
          );
          return;
        }
      } else if (option === "announce-port") {
        const number = atoi(arg.value);
        if (number <= 0 || number > 65535) {
          this.#report(line, {
            code: "sentinel-misread",
            class: "silent",
            topic: "sentinel",
            message: `\`sentinel announce-port ${arg.value}\` is read as ${number}${number === 0 ? ": the Sentinel announces the port that it listens on" : ", which is no port"}`,
            at: arg.at,
          });
        } else this.#misread(line, arg, option, "");
      }
    }
    // What a Sentinel finds out or makes up by itself: two Sentinels from one template would share it.
    if (option === "myid" || option === "current-epoch") this.#runtime(line);
    // An empty text leaves these as they are.
    if (/^(?:announce-ip|sentinel-user|sentinel-pass)$/.test(option) && arg.value === "") return;
    this.#globals.set(option, { setting, line });
  }

  #runtime(line: Line): void {
    this.#loading.report(line.loaded, {
      code: "sentinel-runtime",
      class: "runtime",
      topic: "sentinel",
      message:
        line.option === "myid"
          ? "`sentinel myid` is made by the Sentinel at its first start: from a template, several Sentinels get the same one and do not see each other"
          : `\`sentinel ${line.option}\` is state that the Sentinel itself writes: a template must not ship it`,
    });
  }

  readonly #unattributed = new Set<string>();

  #master(line: Line): Master | undefined {
    const name = line.args[0]!;
    const master = this.#masters.get(name.value);
    if (master !== undefined) return master;
    const { opaque, attempted, any } = this.#names();
    // `${NAME}` here and `mymaster` there may be the same; a `monitor` line that is there and is wrong is said once.
    if (name.placeholder !== "none" || opaque || attempted.has(name.value)) {
      this.#unattributed.add(line.option);
      return undefined;
    }
    const monitored = [...this.#masters.keys()].slice(0, 8);
    const near = nearest(name.value, monitored);
    this.#report(line, {
      code: "sentinel-unmonitored",
      class: "fatal",
      topic: "sentinel",
      message: any
        ? `no line monitors \`${name.value}\`${monitored.length > 0 ? ` (but ${monitored.map((m) => `\`${m}\``).join(", ")})` : ""}`
        : `no \`sentinel monitor\` line names \`${name.value}\``,
      server: "No such master with specified name.",
      right: near ?? (monitored.length === 1 ? monitored[0] : undefined),
      at: name.at,
      certain: this.#loading.closed,
    });
    return undefined;
  }

  /** What the `monitor` lines say together; asked for when all of them are read. */
  #names(): { opaque: boolean; attempted: ReadonlySet<string>; any: boolean } {
    if (this.#monitors === undefined) {
      const lines = this.#lines.filter((l) => l.option === "monitor");
      this.#monitors = {
        opaque: lines.some((l) => l.args[0] !== undefined && l.args[0].placeholder !== "none"),
        attempted: new Set(lines.filter((l) => l.args.length !== 4).map((l) => l.args[0]?.value ?? "")),
        any: lines.length > 0,
      };
    }
    return this.#monitors;
  }

  #ofMaster(line: Line): void {
    const { option, args } = line;
    if (option === "known-sentinel" && args.length === 3) {
      // The old form without an id is skipped by the server, unknown primary or not.
      this.#runtime(line);
      return;
    }
    const master = this.#master(line);
    if (/^(?:config-epoch|leader-epoch|known-)/.test(option)) this.#runtime(line);
    const arg = args[1]!;
    if (master === undefined) {
      this.#alone(line, arg);
      return;
    }
    const name = option === "known-slave" ? "known-replica" : option;
    const before = master.lines.get(name);
    if (before !== undefined && !/^(?:known-|rename-)/.test(option))
      this.#repeated(line, before, `sentinel ${option} ${master.name}`);
    master.lines.set(name, line);
    switch (option) {
      case "down-after-milliseconds":
      case "failover-timeout": {
        if (!this.#time(line, arg)) return;
        const setting = this.#setting(line, arg, true);
        if (option === "failover-timeout") master.failoverTimeout = setting;
        else master.downAfter = setting;
        return;
      }
      case "parallel-syncs":
        this.#parallel(line, arg);
        master.parallelSyncs = this.#setting(line, arg, true);
        return;
      case "master-reboot-down-after-period":
      case "primary-reboot-down-after-period":
        if (!this.#time(line, arg)) return;
        master.rebootDownAfter = this.#setting(line, arg, true);
        return;
      case "notification-script":
      case "client-reconfig-script":
        this.#script(line, arg);
        if (option === "notification-script") master.notificationScript = this.#setting(line, arg);
        else master.clientReconfigScript = this.#setting(line, arg);
        return;
      case "auth-pass":
        master.authPass = this.#setting(line, arg);
        return;
      case "auth-user":
        master.authUser = this.#setting(line, arg);
        return;
      case "known-slave":
      case "known-replica":
        this.#knownReplica(line, master);
        return;
      case "known-sentinel":
        this.#knownSentinel(line, master);
        return;
      case "rename-command":
        this.#rename(line, master);
        return;
    }
  }

  /** Checks of a value that need no primary: its name is unknown here, the value is not. */
  #alone(line: Line, arg: ConfArgument): void {
    if (/^(?:down-after-milliseconds|failover-timeout)$/.test(line.option)) this.#time(line, arg);
    else if (line.option === "parallel-syncs") this.#parallel(line, arg);
  }

  #time(line: Line, arg: ConfArgument): boolean {
    if (arg.placeholder !== "none") return true;
    const number = atoi(arg.value);
    const reboot = line.option.endsWith("reboot-down-after-period");
    if (reboot ? number < 0 : number <= 0) {
      this.#bad(
        line,
        arg,
        `\`${arg.value}\` of \`sentinel ${line.option}\` is read as ${number} milliseconds: it must be ${reboot ? "0 or more" : "more than 0"}`,
        reboot ? "negative time parameter." : "negative or zero time parameter.",
      );
      return false;
    }
    this.#misread(line, arg, line.option, "milliseconds");
    return true;
  }

  #parallel(line: Line, arg: ConfArgument): void {
    if (arg.placeholder !== "none") return;
    const number = atoi(arg.value);
    if (number > 0) {
      this.#misread(line, arg, line.option, "");
      return;
    }
    this.#report(line, {
      code: "sentinel-misread",
      class: "silent",
      topic: "sentinel",
      message: `\`sentinel parallel-syncs\` is read as ${number}: after a failover no replica is told to follow the new primary`,
      at: arg.at,
    });
  }

  #script(line: Line, arg: ConfArgument): void {
    if (arg.placeholder !== "none") return;
    const fact = this.#loading.input.file?.(arg.value);
    if (fact === undefined || (fact.exists && fact.executable !== false)) return;
    const what = line.option === "notification-script" ? "Notification script" : "Client reconfiguration script";
    this.#bad(
      line,
      arg,
      `the script \`${arg.value}\` ${fact.exists ? "is not executable" : "is not there"}`,
      `${what} seems non existing or non executable.`,
      "sentinel-script",
    );
  }

  #address(line: Line, host: ConfArgument, port: ConfArgument): string | undefined {
    if (host.placeholder !== "none" || port.placeholder !== "none") return undefined;
    const number = atoi(port.value);
    if (number < 0 || number > 65535) {
      this.#bad(line, port, `\`${port.value}\` is no port`, "Invalid port number.");
      return undefined;
    }
    const address = numericHost(host.value);
    if (address === undefined) this.#hostname(line, host);
    return `${address ?? host.value.toLowerCase()}:${number}`;
  }

  #knownReplica(line: Line, master: Master): void {
    const [, host, port] = line.args as [ConfArgument, ConfArgument, ConfArgument];
    const key = this.#address(line, host, port);
    if (key === undefined) return;
    if (
      this.#duplicate(
        line,
        master.replicas.get(key),
        "Duplicate hostname and port for replica.",
        `the replica \`${host.value}:${port.value}\` is listed twice`,
      )
    )
      return;
    master.replicas.set(key, line);
  }

  #knownSentinel(line: Line, master: Master): void {
    const [, host, port, id] = line.args as [ConfArgument, ConfArgument, ConfArgument, ConfArgument];
    if (this.#address(line, host, port) === undefined || id.placeholder !== "none") return;
    if (
      this.#duplicate(
        line,
        master.sentinels.get(id.value),
        "Duplicate runid for sentinel.",
        `the Sentinel \`${id.value}\` is listed twice`,
      )
    )
      return;
    master.sentinels.set(id.value, line);
  }

  #rename(line: Line, master: Master): void {
    const [, from, to] = line.args as [ConfArgument, ConfArgument, ConfArgument];
    const key = from.value.toLowerCase();
    const opaque = from.placeholder !== "none" || to.placeholder !== "none";
    if (
      from.placeholder === "none" &&
      this.#duplicate(
        line,
        master.renameLines.get(key),
        "Same command renamed multiple times with rename-command.",
        `\`${from.value}\` is renamed twice`,
      )
    ) {
      return;
    }
    master.renameLines.set(key, line);
    master.renames.push({ from: from.value, to: to.value, at: line.loaded.statement.at, placeholder: opaque });
  }

  #duplicate(line: Line, before: Line | undefined, server: string, message: string): boolean {
    if (before === undefined || before.loaded.conditional) return false;
    this.#report(line, {
      code: "sentinel-duplicate",
      class: "fatal",
      topic: "sentinel",
      message,
      server,
      related: [{ at: before.loaded.statement.at, message: "first here" }],
    });
    return true;
  }

  #repeated(line: Line, before: Line, name: string): void {
    const { loaded } = line;
    if (loaded.origin !== "file" || before.loaded.origin !== "file" || loaded.document !== before.loaded.document)
      return;
    if (loaded.conditional || before.loaded.conditional) return;
    this.#loading.report(loaded, {
      code: "sentinel-repeated",
      class: "repeat",
      topic: "sentinel",
      message: `\`${name}\` is set again: the Sentinel keeps the last line only`,
      related: [{ at: before.loaded.statement.at, message: "overridden" }],
    });
  }

  #flag(option: string): boolean | undefined {
    const global = this.#globals.get(option);
    if (global !== undefined) {
      const { setting, line } = global;
      return setting.placeholder === "none" && !line.loaded.conditional ? setting.value === "yes" : undefined;
    }
    if (!this.#loading.closed) return undefined;
    return option === "deny-scripts-reconfig";
  }

  /** Users without passwords: the Sentinel then sends no AUTH at all. */
  #judgePairs(): void {
    for (const master of this.#masters.values()) {
      if (master.authUser === undefined || master.authPass !== undefined || !this.#loading.closed) continue;
      this.#loading.report(master.lines.get("auth-user")!.loaded, {
        code: "sentinel-user-without-password",
        class: "useless",
        topic: "sentinel",
        message: `\`sentinel auth-user ${master.name}\` without \`sentinel auth-pass ${master.name}\`: the Sentinel sends no AUTH at all`,
      });
    }
    const user = this.#globals.get("sentinel-user");
    if (user !== undefined && !this.#globals.has("sentinel-pass") && this.#loading.closed) {
      this.#loading.report(user.line.loaded, {
        code: "sentinel-user-without-password",
        class: "useless",
        topic: "sentinel",
        message:
          "`sentinel sentinel-user` without `sentinel sentinel-pass`: the Sentinel does not log in to its peers as that user",
      });
    }
  }

  #judgeHosts(): void {
    const resolve = this.#flag("resolve-hostnames");
    const announce = this.#globals.get("announce-hostnames");
    if (announce !== undefined && resolve === false && this.#flag("announce-hostnames") === true) {
      this.#loading.report(announce.line.loaded, {
        code: "sentinel-announce-hostnames",
        class: "useless",
        topic: "hostname",
        message:
          "`sentinel announce-hostnames yes` without `sentinel resolve-hostnames yes`: the Sentinel knows addresses only and announces them",
      });
    }
    for (const master of this.#masters.values()) {
      const { host, line } = master;
      if (host.placeholder !== "none" || numericHost(host.value) !== undefined) continue;
      // Whether the name resolves when the Sentinel starts is not known here.
      if (resolve === true && this.#flag("announce-hostnames") !== true) this.#loading.restartUndecided();
      if (resolve === true && this.#flag("announce-hostnames") === false && host.value !== "") {
        this.#loading.report(line.loaded, {
          code: "sentinel-pinned-hostname",
          class: "note",
          topic: "hostname",
          message: `without \`sentinel announce-hostnames yes\` the Sentinel writes the address of \`${host.value}\` into its file at its first start, and nothing if the name does not resolve then: the next start is fatal`,
          at: host.at,
        });
      }
    }
  }

  /** A name where an address must stand, unless the Sentinel may resolve names. */
  #hostname(line: Line, host: ConfArgument): void {
    const resolve = this.#flag("resolve-hostnames");
    if (resolve === true) return;
    const bracket = /^\[.*\]$/.test(host.value);
    this.#report(line, {
      code: "sentinel-hostname",
      class: "fatal",
      topic: "hostname",
      message: bracket
        ? `an IPv6 address stands without brackets, not as \`${host.value}\``
        : `\`${host.value}\` is a host name: a Sentinel takes an address, unless \`sentinel resolve-hostnames yes\` is set`,
      server: `Failed to resolve hostname '${host.value}' / Can't resolve instance hostname.`,
      right: bracket ? host.value.slice(1, -1) : undefined,
      at: host.at,
      certain: resolve === false,
    });
  }
}

const USAGE: Record<string, string> = {
  monitor: "a name, an address, a port and a quorum",
  "down-after-milliseconds": "the name of a primary and milliseconds",
  "failover-timeout": "the name of a primary and milliseconds",
  "parallel-syncs": "the name of a primary and a number",
  "auth-pass": "the name of a primary and a password",
  "auth-user": "the name of a primary and a user",
  "rename-command": "the name of a primary, a command and its new name",
  "announce-ip": "one address",
  "announce-port": "one port",
  "sentinel-user": "one user",
  "sentinel-pass": "one password",
};

/** Milliseconds of a text with a unit (`5s`, `2m`, `1500ms`); undefined: not that kind of text. */
function milliseconds(text: string): number | undefined {
  const found = /^(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|sec|m|min|h)$/i.exec(text);
  if (found === null) return undefined;
  const unit = { ms: 1, s: 1000, sec: 1000, m: 60_000, min: 60_000, h: 3_600_000 }[found[2]!.toLowerCase()]!;
  return Math.round(Number(found[1]) * unit);
}

function byteLength(text: string): number {
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    n += c < 0x80 ? 1 : c < 0x800 || (c >= 0xd800 && c < 0xe000) ? 2 : 3;
  }
  return n;
}
