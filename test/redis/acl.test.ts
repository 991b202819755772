import { describe, expect, it } from "vitest";
import { AclWord } from "../../src/document/redis-acl.js";
import {
  type AclLoad,
  type AclUser,
  checkScript,
  diffUsers,
  dryRun,
  execute,
  type LoadOptions,
  load,
  loadLines,
  loadView,
  serverMessage,
} from "../../src/model/redis/acl.js";
import { Source, type Span, TextView } from "../../src/text/source.js";

function users(text: string, options: Partial<LoadOptions> = {}): Map<string, AclUser> {
  const result = load(text, { server: "7.2", ...options });
  if (!result.ok) throw new Error(serverMessage(result.errors, "file"));
  return result.users;
}
const user = (rules: string, options: Partial<LoadOptions> = {}): AclUser =>
  users(`user u ${rules}`, options).get("u")!;
const shown = (span: Span | undefined): string | undefined =>
  span === undefined ? undefined : span.source.slice(span);
function failed(result: AclLoad): Extract<AclLoad, { ok: false }> {
  if (result.ok) throw new Error("it loads");
  return result;
}

describe("places", () => {
  const text = "user default off\r\n  user app on >pw ~app:* %R~ref:* &news +@read (+set ~q:*)  \n";

  it("of users, names and rules are those of the file", () => {
    const app = users(text).get("app")!;
    expect(app.line).toBe(2);
    expect(shown(app.at)).toBe("user app on >pw ~app:* %R~ref:* &news +@read (+set ~q:*)");
    expect(shown(app.nameAt)).toBe("app");
    expect([...app.tokens()].map((t) => shown(t.at))).toEqual(
      "on >pw ~app:* %R~ref:* &news +@read (+set ~q:*)".split(" "),
    );
    expect(shown(app.passwords[0]!.at)).toBe(">pw");
    expect(shown(app.passwords[0]!.valueAt)).toBe("pw");
    expect(app.root.keys.map((k) => [shown(k.at), k.text, k.read, k.write])).toEqual([
      ["~app:*", "app:*", true, true],
      ["%R~ref:*", "ref:*", true, false],
    ]);
    expect(app.root.channels.map((c) => shown(c.at))).toEqual(["&news"]);
    expect(app.selectors.map((s) => [shown(s.at), shown(s.keys[0]!.at), shown(s.rules[0]!.word.at)])).toEqual([
      ["(+set ~q:*)", "~q:*", "+set"],
    ]);
    expect(shown(app.enabledWord?.at)).toBe("on");
  });

  it("go through the view of an embedded text", () => {
    const yaml = "data:\n  users.acl: |\n    user a on nopass +get ~k\n    user b (+get ~x\n";
    const source = new Source("config.yaml", yaml);
    const segment = (line: string): { outer: number; length: number } => ({
      outer: yaml.indexOf(line),
      length: line.length,
    });
    const lines = ["user a on nopass +get ~k\n", "user b (+get ~x\n"].map(segment);
    let inner = 0;
    const segments = lines.map(({ outer, length }) => {
      const from = inner;
      inner += length;
      return { inner: from, length, outer, outerLength: length };
    });
    const view = new TextView(source, lines.map((l) => yaml.substr(l.outer, l.length)).join(""), segments);
    const result = failed(loadView(view, { server: "7.2" }));
    expect(result.errors.map((e) => [e.line, shown(e.at)])).toEqual([[2, "(+get ~x"]]);
    expect(shown(result.users.get("a")!.granting("get")!.at)).toBe("+get");
  });

  it("survive NUL bytes, which glue lines", () => {
    const nul = "user a on\0rest\n nopass\nuser b on +x";
    const result = failed(load(nul, { server: "7.2" }));
    expect(result.users.get("a")!.nopass).toBe(true);
    expect(result.errors.map((e) => [e.line, shown(e.at)])).toEqual([[2, "+x"]]);
  });
});

describe("errors", () => {
  it("keep what could be read", () => {
    const result = failed(load("user a on +get ~k\nuser b +nosuch +set bad >pw\nuser a off\n# x", { server: "7.2" }));
    expect(result.errors.map((e) => [e.line, e.message, shown(e.at)])).toEqual([
      [2, "Error in applying operation '+nosuch': Unknown command or category name in ACL", "+nosuch"],
      [2, "Syntax error", "bad"],
      [3, "Duplicate user 'a' found on line 3", "a"],
      [4, "should start with user keyword followed by the username", "# x"],
    ]);
    expect([...result.users.keys()]).toEqual(["a", "b"]);
    expect(result.users.get("b")!.may("set")).toBe(true);
    expect(result.errors[0]!.start).toBe(result.errors[0]!.at.start);
  });

  it("tell a crash from a refusal", () => {
    expect(failed(load("user a on (+get", { server: "valkey-9.1" }))).toMatchObject({ crash: true });
    const first = failed(load("user a (+get", { server: "7.2" }));
    expect(first.crash).toBeUndefined();
    expect(first.errors[0]!.message).toBe("Unmatched parenthesis in selector definition");
    const loads = load("user a %", { server: "7.2.6" });
    expect(loads.ok && loads.users.get("a")!.crashes).toBe(true);
    expect(loads.notes.join()).toContain("crashes the server");
    expect(load("user a %", { server: "7.2.7" }).ok).toBe(false);
    expect(load("user a %", { server: "valkey-8.0.2" }).ok).toBe(false);
  });

  it("know first arguments that kill a server which describes them", () => {
    const crashes = (rules: string, server = "7.2"): boolean => user(rules, { server }).crashes;
    // recorded from 7.2.6 and from Debian's 7.0.15, which derives its rules anew
    for (const rules of ['+get|"x', "+get|a'b", '("+get|a b")', '+get|a"b"c', '("+get|a +del")']) {
      expect(crashes(rules), rules).toBe(true);
      expect(crashes(rules, "redis-7.0-debian"), rules).toBe(false);
    }
    expect(crashes('+get|"x"')).toBe(false);
    expect(crashes('+get|"x -get')).toBe(false);
    expect(user('+get|"x').describe()).toEqual({ error: "CRASH in ACL GETUSER" });
  });

  it("end the reading when there are very many", () => {
    const result = failed(load(`user a ${"x ".repeat(5000)}`, { server: "6.2" }));
    expect(result.errors).toHaveLength(1000);
    expect(result.notes).toEqual(["1000 errors are listed; what follows them is not read"]);
  });

  it("refuse a server that is none", () => {
    expect(() => load("", { server: "mysql" })).toThrow(RangeError);
  });
});

describe("what a user may", () => {
  it("follows the order of the rules", () => {
    const u = user("on nopass ~* +@all -@dangerous +config|get -get");
    expect(u.may("set")).toBe(true);
    expect(u.may("config|get")).toBe(true);
    expect(u.may("config|set")).toBe(false);
    expect(u.may("get")).toBe(false);
    expect(u.may("auth")).toBe(true);
    expect(u.may("nosuch")).toBe(false);
    expect(u.granting("set")!.text).toBe("+@all");
    expect(u.granting("config|set")!.text).toBe("-@dangerous");
    expect(u.granting("get")!.text).toBe("-get");
    expect(u.commands.has("config|get")).toBe(true);
    expect(u.commands.has("flushall")).toBe(false);
  });

  it("knows first arguments and subcommands by version", () => {
    expect(user("+select|0").may("select|0")).toBe(true);
    expect(user("+select|0").may("select")).toBe(false);
    expect(user("+config|rewrite", { server: "6.2" }).may("config|rewrite")).toBe(true);
    expect(user("+config|rewrite", { server: "6.2" }).may("config|set")).toBe(false);
    expect(user("+config|rewrite", { server: "valkey-8.1" }).commands).toEqual(new Set(["config|rewrite"]));
  });

  it("looks into selectors, never across them", () => {
    const u = user("on nopass +get ~a:* (+set ~b:* %R~c:*) (+@all -set ~d)");
    expect(u.may("set")).toBe(true);
    expect(u.mayKey("a:1", "R", "get")).toBe("yes");
    expect(u.mayKey("a:1", "W", "set")).toBe("no");
    expect(u.mayKey("c:1", "R", "set")).toBe("yes");
    expect(u.mayKey("c:1", "W", "set")).toBe("no");
    expect(u.covers("a:*:x", "RW", "get")).toBe("yes");
    expect(u.covers("a:*:x", "RW", "set")).toBe("no");
    expect(u.covers({ declared: "b:{tenant}:*" }, "W", "set")).toBe("yes");
    expect(dryRun(u, ["SET", "a:1", "v"]).allowed).toBe(false);
  });

  it("tells the deciding rule of a call", () => {
    const u = user("on nopass %R~app:* %W~out:* +@all -@admin (+config|get)");
    expect(dryRun(u, ["GET", "app:1"])).toMatchObject({ allowed: true, token: { start: 35 } });
    expect(dryRun(u, ["GET", "app:1"]).token!.text).toBe("+@all");
    const denied = dryRun(u, ["GETSET", "app:1", "v"]);
    expect(denied).toMatchObject({ allowed: false, denied: "key", argument: 1 });
    expect(denied.reason).toBe("User u has no permissions to access the 'app:1' key");
    expect(denied.token!.text).toBe("%R~app:*");
    expect(dryRun(u, ["CONFIG", "SET", "a", "b"])).toMatchObject({ denied: "command", token: { start: 41 } });
    expect(dryRun(u, ["CONFIG", "GET", "a"]).token!.text).toBe("+config|get");
    expect(dryRun(u, ["GET"])).toMatchObject({ denied: "call" });
    expect(dryRun(u, []).allowed).toBe(false);
  });

  it("decides databases on Valkey 9.1", () => {
    const u = user("on nopass ~* +@all db=0,3 (db=1 +get ~k)", { server: "valkey-9.1" });
    const allowed = (...argv: string[]): boolean => dryRun(u, argv).allowed;
    expect(allowed("SELECT", "3")).toBe(true);
    expect(allowed("SELECT", "1")).toBe(false);
    expect(allowed("SWAPDB", "0", "3")).toBe(true);
    expect(allowed("SWAPDB", "0", "1")).toBe(false);
    expect(allowed("COPY", "a", "b", "REPLACE", "DB", "1")).toBe(false);
    expect(allowed("FLUSHALL")).toBe(false);
    expect(allowed("PING")).toBe(true);
    expect(dryRun(u, ["GET", "k"], { database: 1 }).allowed).toBe(true);
    expect(dryRun(u, ["GET", "j"], { database: 1 }).allowed).toBe(false);
    const all = user(`on nopass ~* +@all db=${Array.from({ length: 16 }, (_, i) => i).join(",")}`, {
      server: "valkey-9.1",
    });
    expect(dryRun(all, ["FLUSHALL"]).allowed).toBe(true);
    expect(dryRun(all, ["FLUSHALL"], { databases: 17 }).allowed).toBe(false);
    expect(failed(load("user u db=3000000000", { server: "valkey-9.1" })).errors[0]!.message).toBe(
      "The provided database ID is out of range",
    );
  });

  it("shows what each command rule did and what still stands", () => {
    const effects = user("+ping +@connection -ping +select|0 +@all -@all +get").root.effects();
    expect(effects.map((e) => [e.rule.word.text, e.standing])).toEqual([
      ["+ping", []],
      ["+@connection", []],
      ["-ping", []],
      ["+select|0", []],
      ["+@all", []],
      ["-@all", expect.not.arrayContaining(["get"])],
      ["+get", ["get"]],
    ]);
    expect(effects[0]!.changed).toEqual(["ping"]);
    expect(user("+@slow").root.effects()[0]!.standing).toContain("config|set");
  });

  it("knows passwords", () => {
    const u = user("on >pw > #5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8");
    expect(u.passwords.map((p) => [p.kind, p.empty, p.placeholder])).toEqual([
      ["plain", false, false],
      ["plain", true, false],
      ["hash", false, false],
    ]);
    expect(u.authenticates("password")).toBe("yes");
    expect(u.authenticates("")).toBe("yes");
    expect(u.authenticates("x")).toBe("no");
    expect(user("off nopass").authenticates("x")).toBe("no");
    expect(user("on >é").passwords[0]!.hash).toBe("4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c");
  });

  it("describes itself as ACL GETUSER and ACL LIST", () => {
    expect(user("on >a ~k %R~r &c +get (+set ~x)").describe()).toEqual({
      flags: ["on", "sanitize-payload"],
      passwords: ["ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"],
      commands: "-@all +get",
      keys: "~k %R~r",
      channels: "&c",
      selectors: [{ commands: "-@all +set", keys: "~x", channels: "" }],
    });
    expect(user("on nopass ~* &* +@all").list()).toBe("user u on nopass sanitize-payload ~* &* +@all");
    expect(user("on nopass db=1,0 (alldbs)", { server: "valkey-9.1" }).list()).toBe(
      "user u on nopass resetchannels db=0,1 -@all (resetchannels -@all)",
    );
    expect(users("").get("default")!.list()).toBe("user default on nopass sanitize-payload ~* &* +@all");
  });
});

describe("scripts", () => {
  const u = user("on nopass +eval +get +set ~app:* (+del ~tmp:*)");

  it("need read and write on declared keys, then each call on its own", () => {
    const run = (keys: string[], ...calls: string[][]): number | true => {
      const result = checkScript(u, ["EVAL", "…", `${keys.length}`, ...keys], calls);
      return result.allowed || result.call!;
    };
    expect(run(["app:1"], ["GET", "app:1"], ["DEL", "tmp:1"])).toBe(true);
    expect(run(["tmp:1"], ["DEL", "tmp:1"])).toBe(-1);
    expect(run([], ["GET", "app:2"], ["DEL", "app:2"])).toBe(1);
    expect(run([], ["CONFIG", "GET", "x"])).toBe(0);
  });

  it("SORT with BY or GET needs to read every key", () => {
    const app = user("on nopass +sort ~app:*");
    expect(dryRun(app, ["SORT", "app:l", "BY", "w_*"]).allowed).toBe(true);
    expect(execute(app, ["SORT", "app:l", "BY", "w_*"]).reason).toContain("BY option of SORT denied");
    expect(execute(app, ["SORT", "app:l", "BY", "nosort"]).allowed).toBe(true);
    expect(execute(app, ["SORT", "app:l", "GET", "#"]).allowed).toBe(false);
    expect(execute(app, ["SORT", "app:l", "LIMIT", "0", "1"]).allowed).toBe(true);
    expect(execute(user("on nopass +sort %R~*"), ["SORT", "l", "BY", "w_*", "GET", "o_*"]).allowed).toBe(true);
    expect(execute(user("on nopass +sort ~app:*", { server: "6.2" }), ["SORT", "app:l", "GET", "o_*"]).allowed).toBe(
      true,
    );
  });
});

describe("redis.conf", () => {
  const conf = (text: string, server = "7.2"): AclLoad => load(text, { server, origin: "conf" });

  it("reads user lines with quotes, whatever stands between", () => {
    const result = conf('port 6379\n# user x on\nUSER "a b" on\n');
    expect(failed(result).errors.map((e) => e.message)).toEqual(["Spaces not allowed in ACL usernames"]);
    const good = conf('user alice on ">p w" +get \'~k*\' (+set "~x" )\nsave 900 1\nuser bob off\n');
    expect(good.ok && good.users.get("alice")!.passwords[0]!.text).toBe("p w");
    expect(good.ok && good.users.get("alice")!.describe()).toMatchObject({ keys: "~k*", selectors: [{ keys: "~x" }] });
    expect(good.ok && shown(good.users.get("alice")!.passwords[0]!.at)).toBe('">p w"');
    expect(failed(conf('user a (+set "~x")')).errors[0]!.message).toBe("Unbalanced quotes in configuration line");
    expect(conf('user a (+set "~x")', "valkey-9.1").ok).toBe(true);
  });

  it("reports unknown commands after everything else, with the server's wrong word", () => {
    const result = failed(conf("user a on +nosuch\nuser b on foo\nuser b off"));
    expect(result.errors.map((e) => [e.line, e.message])).toEqual([
      [2, "Error in user declaration 'b': Syntax error"],
      [3, "Error in user declaration 'b': Duplicate user found. A user can only be defined once in config files"],
      [1, "Error loading ACL rule '+nosuch' for the user named 'a': Unknown command or category name in ACL"],
    ]);
    expect(shown(result.errors[0]!.at)).toBe("foo");
  });

  it("takes lines that were split elsewhere", () => {
    const view = new TextView(new Source("redis.conf", "user a on +get"));
    const words = [
      [0, 4],
      [5, 6],
      [7, 9],
      [10, 14],
    ].map(([start, end]) => new AclWord(view, start!, end!));
    const result = loadLines([{ line: 7, words }], view, { server: "7.2" });
    expect(result.ok && result.users.get("a")!.line).toBe(7);
    expect(result.ok && result.users.get("a")!.may("get")).toBe(true);
  });
});

describe("differences", () => {
  const diff = (before: string, after: string) => diffUsers(users(before), users(after)).users;

  it("are those of effect, not of text", () => {
    expect(diff("user a on nopass ~k:* +get +set", "user a nopass on +set +get ~k:*")).toEqual([]);
    expect(diff("user a +@all -@all +get", "user a +get")).toEqual([]);
    expect(diff("user a ~k:* ~k:1:*", "user a ~k:*")).toEqual([]);
    expect(diff("user a ~app:*", "user a %R~app:* %W~app:x ~b")).toMatchObject([
      { keys: { added: ["~b"], removed: ["%W~app:*"] } },
    ]);
    expect(diff("user a on >x +get &c", "user a off +get +set &*")).toMatchObject([
      { name: "a", enabled: [true, false], commands: { added: ["set"], removed: [] }, channels: { added: ["&*"] } },
    ]);
    expect(diff("user a on", "user b on").map((d) => [d.name, d.only])).toEqual([
      ["a", "before"],
      ["b", "after"],
    ]);
  });

  it("see selectors that move access between commands", () => {
    const moved = diff("user a on (+get ~x) (+set ~y)", "user a on (+get ~y) (+set ~x)");
    expect(moved).toMatchObject([{ scoped: ["get", "set"], keys: { added: [], removed: [] } }]);
  });
});

describe("hostile input", () => {
  it.each([
    ["nothing but parentheses", `user a on ${"(".repeat(200_000)}`],
    ["100,000 selectors", `user a on ${"(+get ~k) ".repeat(100_000)}`],
    ["millions of blanks", `user a${" ".repeat(2_000_000)}x`],
    ["very many commands", `user a ${"+get -set ".repeat(100_000)}`],
    ["very many categories", `user a ${"+@read -@write ".repeat(100_000)}`],
    ["very many patterns", `user a ${Array.from({ length: 100_000 }, (_, i) => `~k${i}`).join(" ")}`],
    ["very many users", Array.from({ length: 20_000 }, (_, i) => `user u${i} on nopass ~k +get`).join("\n")],
    ["short lines", "x\n".repeat(200_000)],
    ["NUL bytes", "\0".repeat(1_000_000)],
    ["an endless class", `user a ~*${"[".repeat(500_000)} ~${"*[a".repeat(100_000)}`],
    ["openers without end", "{{".repeat(300_000) + "${".repeat(300_000)],
    ["half placeholders", `user a ${"__A".repeat(200_000)} ${"@A".repeat(100_000)} ${"%A".repeat(100_000)}`],
    ["quotes", `user a on ("${"\\".repeat(300_000)}")`],
  ])("%s", (_, text) => {
    for (const options of [{ server: "7.2" }, { server: "6.2" }, { server: "valkey-9.1", placeholders: true }]) {
      const result = load(text, options);
      for (const u of [...result.users.values()].slice(0, 2)) {
        dryRun(u, ["GET", "k".repeat(200)]);
        dryRun(u, ["FLUSHALL"]);
        expect(u.commands.size).toBeLessThan(500);
        expect(["yes", "no", "unknown"]).toContain(u.covers("a*b", "RW", "get"));
      }
    }
  });
});
