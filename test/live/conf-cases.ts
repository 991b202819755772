import { directive, knownDirectives } from "../../src/model/redis/directives.js";

/** One configuration, its files and its command line. */
export interface ConfCase {
  readonly conf: string;
  readonly files: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  /** The password of the default user. */
  readonly password: string | undefined;
  /** Options whose value is the machine's, not the configuration's. */
  readonly unstable: ReadonlySet<string>;
}

/** Options that would leave traces outside the case's folder, start many threads, or stop the server from answering. */
const AVOID = new Set([
  "daemonize",
  "supervised",
  "syslog-enabled",
  "pidfile",
  "unixsocket",
  "unixsocketgroup",
  "watchdog-period",
  "key-load-delay",
  "rdb-key-save-delay",
  "io-threads",
  "databases",
  "disable-thp",
  "oom-score-adj",
  "server_cpulist",
  "bio_cpulist",
  "aof_rewrite_cpulist",
  "bgsave_cpulist",
  "server-cpulist",
  "bio-cpulist",
  "aof-rewrite-cpulist",
  "bgsave-cpulist",
  "cluster-enabled",
  "aclfile",
  "sentinel",
  "user",
  "include",
  "loadmodule",
  "logfile",
  "dir",
]);

/** What the machine decides: open files, folders, sockets. */
const UNSTABLE = new Set(["dir", "maxclients", "unixsocket", "hz", "databases"]);

const WORDS = ["yes", "no", "YES", "No", "true", "on", "1", "0", "maybe", ""];
const NUMBERS = [
  "0",
  "1",
  "2",
  "5",
  "10",
  "64",
  "100",
  "128",
  "999",
  "1000",
  "6379",
  "65535",
  "65536",
  "70000",
  "-1",
  "-5",
  "007",
  "+5",
  " 5",
  "5s",
  "1e3",
  "abc",
  "",
  "2147483647",
  "2147483648",
  "4294967295",
  "9223372036854775807",
  "9223372036854775808",
  "18446744073709551615",
  "18446744073709551616",
  "99999999999999999999999",
  "0x10",
  "1.5",
  "50%",
  "101%",
  "-50%",
  "%",
];
const MEMORY = [
  "1mb",
  "2MB",
  "1gb",
  "100k",
  "1kb",
  "1024",
  "1g",
  "5x",
  "mb",
  "1 mb",
  "1.5gb",
  "-1mb",
  "100b",
  "1tb",
  "10gb",
];
const STRINGS = [
  "a",
  "a b",
  "",
  "a/b",
  "a\\b",
  "x.y",
  "#x",
  "a'b",
  'a"b',
  "пароль",
  "$HOME",
  "tab\there",
  "null",
  "h_st",
  "ho.st-1",
];

const REQUIREPASS = ["secret", "a b", 'q"q', "#x", "p'w", "pässword"];

/** Configurations out of a seed: the same seed gives the same ones. */
export class ConfCases {
  #state: number;
  readonly #names: readonly string[];

  constructor(seed: number) {
    this.#state = seed >>> 0;
    this.#names = knownDirectives("redis-7.0").filter((name) => !AVOID.has(name));
  }

  /** mulberry32. */
  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  #below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#below(list.length)]!;
  }

  #chance(p: number): boolean {
    return this.#random() < p;
  }

  next(): ConfCase {
    return this.#chance(0.4) ? this.#sentinel() : this.#data();
  }

  /** A word as a file may hold it: plain, quoted, or badly quoted. */
  #word(value: string): string {
    const roll = this.#random();
    if (roll < 0.05) return `"${value}`;
    if (roll < 0.07) return `"${value}"x`;
    if (roll < 0.1) return `'${value.replaceAll("'", "\\'")}'`;
    const needs = value === "" || /[\s"'\\#]/.test(value);
    if ((needs && roll < 0.9) || roll < 0.2) {
      return `"${value.replace(/[\\"]/g, "\\$&").replaceAll("\t", this.#chance(0.5) ? "\\t" : "\\x09")}"`;
    }
    return value;
  }

  #value(name: string): string {
    const option = directive("redis-7.0", name);
    if (option === undefined) return this.#pick(NUMBERS);
    if (this.#chance(0.35) && option.default !== "") return option.default;
    switch (option.kind) {
      case "bool":
        return this.#pick(this.#chance(0.7) ? ["yes", "no", "YES", "no"] : WORDS);
      case "enum":
        return this.#pick(
          this.#chance(0.7)
            ? option.values
            : [...option.values.map((v) => v.toUpperCase()), "nosuch", "", option.values[0]! + " "],
        );
      case "number":
        return this.#pick(option.number!.memory || this.#chance(0.1) ? [...MEMORY, ...NUMBERS] : NUMBERS);
      default:
        return this.#pick(STRINGS);
    }
  }

  #special(): string {
    const n = (list: readonly string[] = NUMBERS): string => this.#word(this.#pick(list));
    switch (this.#below(11)) {
      case 0:
        return this.#pick([
          "save 900 1",
          "save",
          'save ""',
          "save 900",
          "save 60 5 300 10",
          'save "60 5"',
          "save 0 1",
          `save ${n()} ${n()}`,
          "save 900 1 # x",
        ]);
      case 1:
        return `client-output-buffer-limit ${this.#pick(["normal", "replica", "slave", "pubsub", "master", "PUBSUB", "x"])} ${n(MEMORY)} ${n(MEMORY)} ${n()}`;
      case 2:
        return `client-output-buffer-limit ${this.#pick(["normal 0 0 0 pubsub 32mb 8mb 60", "normal 0 0", "normal 0 0 0 0", '"normal 0 0 0"'])}`;
      case 3:
        return `oom-score-adj-values ${this.#pick(["0 200 800", "0 0 0", "1 2", "0 200 2001", "-2000 0 2000", "a b c", '"0 1 2"'])}`;
      case 4:
        return `notify-keyspace-events ${this.#word(this.#pick(["", "KEA", "Kx", "AKEn", "Q", "g$lshzxetd", "Elg", "m", "KEAm", "A n"]))}`;
      case 5:
        return `latency-tracking-info-percentiles ${this.#pick(["50 99 99.9", '""', "", "101", "-1", "abc", "1e1", "99.99999", '"50 90"', "0x10", "inf", "nan"])}`;
      case 6:
        return `${this.#pick(["replicaof", "slaveof"])} ${this.#pick(["no one", "NO ONE", "127.0.0.1 1", "127.0.0.1", "h 70000", "h 0", "h -1", "h 12x", '"127.0.0.1 1"', "a b c", 'h ""'])}`;
      case 7:
        return `rename-command ${this.#pick(["FLUSHALL", "config", "NOSUCH", "config|get", "debug", ""])} ${this.#pick(['""', "x1", "GET", "b840", "", "Config"])}`;
      case 8:
        return `shutdown-on-sigterm ${this.#pick(["default", "save", "nosave now", "save nosave", "now force save", "", '"now force"', "DEFAULT", "x"])}`;
      case 9:
        return this.#pick([
          "appendonly yes # x",
          "timeout 5 #x",
          "maxmemory-policy allkeys-lru # lru",
          "#",
          "  # timeout x",
          "list-max-ziplist-entries 10",
          "lua-replicate-commands yes",
          "lua-replicate-commands",
          "sentinel",
          "sentinel monitor m 127.0.0.1 1 1",
          "loadmodule",
          "loadmodule /nope.so",
          "foo.bar 1",
          "foo.bar",
          "timeout=5",
          "timeout: 5",
          "nosuch 1",
          "tls-cluster yes",
          "tls-replication yes",
          "tls-port 0",
        ]);
      default:
        return this.#pick([
          "unixsocketperm 700",
          "unixsocketperm 999",
          "unixsocketperm 0777",
          'unixsocketperm ""',
          "unixsocketperm 1777",
          "proc-title-template {title}",
          'proc-title-template "{title} {port}"',
          "proc-title-template {nosuch}",
          "proc-title-template x",
          "cluster-announce-hostname h_x",
          "cluster-announce-hostname a.b-c",
          "port 65536",
          "port x",
          "appendfilename a/b",
          "dbfilename x/y",
          "aclfile /nope.acl",
          "dir /nope",
          "logfile /nope/x",
        ]);
    }
  }

  #user(): string {
    const name = this.#pick(["a", "b", "c", "app"]);
    return `user ${name} ${this.#pick(["on", "off", "on >p", 'on ">p w"', "on nopass ~* &* +@all", "on +get ~a*", "on +nosuch", "on foo", "on ~* ~x", "on (+get ~x)", "on >p # x", "", "on +ping allchannels"])}`;
  }

  #line(): string {
    if (this.#chance(0.3)) return this.#special();
    const name = this.#pick(this.#names);
    const shown = this.#chance(0.1)
      ? name.toUpperCase()
      : this.#chance(0.03)
        ? `"${name}"`
        : this.#chance(0.02)
          ? name.slice(1)
          : name;
    const words = [shown];
    const args = this.#chance(0.93) ? 1 : this.#below(4);
    for (let i = 0; i < args; i++) words.push(this.#word(this.#value(name)));
    const gap = this.#pick([" ", " ", " ", "\t", "  ", "\v"]);
    return `${this.#pick(["", "", "", " ", "\t"])}${words.join(gap)}${this.#pick(["", "", " ", "\r"])}`;
  }

  /** Lines of which most are good: else nearly no server would start. */
  #lines(most: number): string[] {
    return Array.from({ length: 1 + this.#below(most) }, () => this.#line());
  }

  #data(): ConfCase {
    const files: Record<string, string> = {};
    const lines = this.#lines(this.#chance(0.5) ? 2 : 6);
    if (this.#chance(0.15)) {
      files["b1.conf"] = this.#lines(2).join("\n") + (this.#chance(0.7) ? "\n" : "");
      files["b2.conf"] = "timeout 2\n";
      lines.splice(
        this.#below(lines.length + 1),
        0,
        `include ${this.#pick(["b1.conf", "b*.conf", "b?.conf", "nofile.conf", "n*.conf", '"b2.conf"'])}`,
      );
    }
    let password: string | undefined;
    if (this.#chance(0.15)) {
      password = this.#pick(REQUIREPASS);
      lines.push(`requirepass "${password.replace(/[\\"]/g, "\\$&")}"`);
    }
    if (this.#chance(0.2)) lines.push(this.#user());
    if (this.#chance(0.05)) lines.push(this.#user(), this.#user());
    if (this.#chance(0.08)) {
      files["u.acl"] = this.#pick([
        "user a on >p ~* +@all\n",
        "user default off\nuser b on\n",
        "user a on +nosuch\n",
        "# users\n",
        "",
      ]);
      lines.push("aclfile u.acl");
    }
    if (this.#chance(0.05)) lines.push("timeout 1\0\ntimeout 2");
    if (this.#chance(0.02)) lines.unshift("\uFEFFtimeout 1");
    const extra = this.#chance(0.2)
      ? this.#pick([
          ["--timeout", "7"],
          ["--save"],
          ["--save", "--timeout", "3"],
          ["--save", ""],
          ["--save", "60 1"],
          ["--timeout 8"],
          ["--timeout"],
          ["--appendonly", "yes", "--maxmemory", "2mb"],
          ["timeout", "9"],
          ["--bind", "127.0.0.1 -::1"],
          ["--requirepass", "--x"],
          ["--nosuch", "1"],
          ["--save", "60", "1", "300", "5"],
          ["--maxmemory", "1 mb"],
          ["--oom-score-adj-values", "0 1 2"],
          ["--loglevel", "VERBOSE"],
        ])
      : [];
    if (extra[0] === "--requirepass") password = "--x";
    const listens = this.#chance(0.93);
    const args = [...extra, "--port", "0", "--bind", "127.0.0.1", ...(listens ? ["--unixsocket", "<dir>/s"] : [])];
    return { conf: lines.join("\n") + this.#pick(["\n", "", "\r\n"]), files, args, password, unstable: UNSTABLE };
  }

  #sentinel(): ConfCase {
    const files: Record<string, string> = { "x.sh": "#!/bin/sh\n" };
    const name = (): string => this.#pick(["m", "m", "m", "m", "other", '"m"', "M"]);
    const number = (): string =>
      this.#word(
        this.#pick([
          "1",
          "2",
          "5000",
          "5s",
          "0",
          "-1",
          "abc",
          "",
          "99999999999",
          "2x",
          " 7",
          "4294967296",
          "2147483648",
          "1.5",
        ]),
      );
    const host = (): string =>
      this.#pick([
        "127.0.0.1",
        "127.0.0.1",
        "127.0.0.1",
        "10.0.0.1",
        "::1",
        "127.1",
        "0x7f000001",
        "1.2.3.256",
        "localhost",
        "no.such.invalid",
        "[::1]",
        '""',
        "fe80::1%1",
        "01.2.3.4",
        "::ffff:1.2.3.4",
      ]);
    const port = (): string => this.#pick(["6379", "6379", "6380", "0", "abc", "70000", "-1", "65535", "6379x"]);
    const id = (): string => this.#pick(["a".repeat(40), "b".repeat(40), "short", '""']);
    const option = (): string => {
      switch (this.#below(20)) {
        case 0:
          return `sentinel down-after-milliseconds ${name()} ${number()}`;
        case 1:
          return `sentinel failover-timeout ${name()} ${number()}`;
        case 2:
          return `sentinel parallel-syncs ${name()} ${number()}`;
        case 3:
          return `sentinel auth-pass ${name()} ${this.#word(this.#pick(STRINGS))}`;
        case 4:
          return `sentinel auth-user ${name()} ${this.#word(this.#pick(STRINGS))}`;
        case 5:
          return `sentinel ${this.#pick(["notification-script", "client-reconfig-script"])} ${name()} ${this.#pick(["/nope.sh", "x.sh"])}`;
        case 6:
          return `sentinel known-replica ${name()} ${host()} ${port()}`;
        case 7:
          return `sentinel known-slave ${name()} ${host()} ${port()}`;
        case 8:
          return `sentinel known-sentinel ${name()} ${host()} ${port()} ${this.#chance(0.7) ? id() : ""}`;
        case 9:
          return `sentinel rename-command ${name()} ${this.#pick(["CONFIG", "config", "ROLE"])} ${this.#pick(["x", '""', '"a b"'])}`;
        case 10:
          return `sentinel announce-ip ${this.#word(this.#pick(["1.2.3.4", "h.x", "", "a b"]))}`;
        case 11:
          return `sentinel announce-port ${number()}`;
        case 12:
          return `sentinel ${this.#pick(["deny-scripts-reconfig", "resolve-hostnames", "announce-hostnames"])} ${this.#pick(["yes", "no", "YES", "maybe", "1"])}`;
        case 13:
          return `sentinel ${this.#pick(["sentinel-user", "sentinel-pass"])} ${this.#word(this.#pick(STRINGS))}`;
        case 14:
          return `sentinel myid ${id()}`;
        case 15:
          return `sentinel ${this.#pick(["config-epoch m", "leader-epoch m", "current-epoch", "config-epoch"])} ${number()}`;
        case 16:
          return `sentinel master-reboot-down-after-period ${name()} ${number()}`;
        case 17:
          return `${this.#pick(["sentinel", "SENTINEL nosuch x", "sentinel Parallel-Syncs m 2", "sentinel monitor m", "sentinel down-after-milliseconds m 5000 # x", 'sentinel "monitor" q 127.0.0.1 1 1'])}`;
        case 18:
          return this.#pick([
            "maxmemory 1mb",
            "appendonly yes",
            "replicaof 127.0.0.1 1",
            "rename-command GET x",
            "rename-command PING x",
            'rename-command SENTINEL ""',
            "nosuch 1",
            "foo.bar 1",
            "loadmodule /nope.so",
            "masterauth x",
            "protected-mode yes",
            "timeout 5",
          ]);
        default:
          return `sentinel monitor ${name()} ${host()} ${port()} ${number()}`;
      }
    };
    const lines = this.#chance(0.85) ? [`sentinel monitor m ${this.#chance(0.8) ? "127.0.0.1" : host()} 6379 2`] : [];
    const n = this.#chance(0.5) ? 1 : this.#below(6);
    for (let i = 0; i < n; i++) lines.splice(this.#below(lines.length + 1), 0, option());
    if (this.#chance(0.15)) {
      files["b1.conf"] = this.#pick([
        `${option()}\n`,
        "user a on +ping\n",
        "sentinel monitor i 127.0.0.1 6379 1\n",
        "sentinel rename-command m INFO x\n",
        "sentinel known-replica m 127.0.0.1 7000\n",
        "timeout 3\n",
      ]);
      lines.splice(this.#below(lines.length + 1), 0, "include b1.conf");
    }
    if (this.#chance(0.1))
      lines.push(
        this.#pick(["user a on +ping", "user a on +get", "user a on >p +sentinel|masters", "user default off"]),
      );
    const args = ["--sentinel", "--port", "0", "--bind", "127.0.0.1", "--unixsocket", "<dir>/s"];
    return { conf: lines.join("\n") + "\n", files, args, password: undefined, unstable: UNSTABLE };
  }
}
