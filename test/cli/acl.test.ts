/** `quorumlint acl` as a process: show, can, diff, their exit codes, and what they say to a mistake. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../support.js";
import { quorumlint, removeTemporary, temporary } from "./run.js";

let folder = "";
const USERS = "user default off\nuser u on >secret %R~k* ~own:* resetchannels &news -@all +@read +getset +publish\n";

beforeAll(() => {
  folder = temporary();
  writeFileSync(join(folder, "users.acl"), USERS);
});
afterAll(removeTemporary);

function acl(...args: string[]): { code: number | null; stdout: string; stderr: string } {
  return quorumlint(["acl", ...args], { cwd: folder });
}

const can = (...command: string[]) => acl("can", "users.acl", "--user", "u", "--", ...command);

describe("acl can", () => {
  it("prints the rule that decides, and exits 1 when denied", () => {
    const run = can("GETSET", "k", "v");
    expect(run).toEqual({
      code: 1,
      stderr: "",
      stdout:
        "denied: GETSET k v as u\n  User u has no permissions to access the 'k' key\n  decided by %R~k* (users.acl:2:19)\n",
    });
  });

  it.each([
    [["GET", "k1"], 0, "+@read"],
    [["GETSET", "own:1", "v"], 0, "+getset"],
    [["SET", "own:1", "v"], 1, "decided by -@all (users.acl:2:52)"],
    [["CONFIG", "GET", "*"], 1, "decided by -@all"],
    [["PUBLISH", "news", "x"], 0, "+publish"],
    [["PUBLISH", "olds", "x"], 1, "channel patterns"],
    [["GET", "other"], 1, "key patterns: none matches"],
    [["SORT_RO", "own:1", "BY", "w_*"], 1, "none covers every key"],
    [["AUTH", "x"], 0, "always passes"],
  ] as const)("%j exits %i", (command, code, text) => {
    const run = can(...command);
    expect(run.stderr).toBe("");
    expect({ code: run.code, says: run.stdout.includes(text) ? text : run.stdout }).toEqual({ code, says: text });
  });

  it("as JSON", () => {
    const run = acl(
      "can",
      "users.acl",
      "--user",
      "u",
      "--format",
      "json",
      "--server",
      "valkey-8.0",
      "--",
      "GETSET",
      "k",
      "v",
    );
    expect(run.code).toBe(1);
    expect(JSON.parse(run.stdout)).toEqual({
      version: 1,
      file: "users.acl",
      server: "valkey-8.0",
      user: "u",
      command: ["GETSET", "k", "v"],
      allowed: false,
      reason: "User u has no permissions to access the 'k' key",
      denied: "key",
      argument: 1,
      token: { text: "%R~k*", line: 2, column: 19 },
    });
  });

  it("does not guess what a placeholder hides", () => {
    writeFileSync(join(folder, "users.acl.tmpl"), "user u on >${PASSWORD} ~${PREFIX}:* -@all +get ${MORE}\n");
    const run = acl("can", "users.acl.tmpl", "--user", "u", "--", "SET", "x:1", "v");
    expect(run.code).toBe(1);
    expect(run.stdout).toContain("unknown: SET x:1 v as u");
  });

  it.each([
    [["users.acl", "--user", "v", "--", "GET", "k"], "users.acl has no user v"],
    [["users.acl", "--", "GET", "k"], "--user"],
    [["users.acl", "--user", "u", "--", "GTE", "k"], "Command 'GTE' not found; did you mean \"get\"?"],
    [["users.acl", "--user", "u", "--", "GET"], "wrong number of arguments"],
    [["nowhere.acl", "--user", "u", "--", "GET", "k"], "there is no file nowhere.acl"],
    [[".", "--user", "u", "--", "GET", "k"], ". is a directory"],
    [["users.acl", "--user", "u", "--server", "nosql", "--", "GET", "k"], "--server nosql is no version"],
    [["users.acl", "--user", "u"], "missing required argument"],
  ])("%j is the user's mistake", (args, text) => {
    const run = acl("can", ...args);
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code: 2, stdout: "" });
    expect(run.stderr).toContain(text);
  });

  it("says so where no rule speaks of the command", () => {
    writeFileSync(join(folder, "short.acl"), "user u on >x ~* +get\n");
    const run = acl("can", "short.acl", "--user", "u", "--", "SET", "k", "v");
    expect({ code: run.code, says: run.stdout.split("\n")[2] }).toEqual({
      code: 1,
      says: "  decided by nothing: no rule grants it",
    });
  });

  it("says why a file does not load", () => {
    writeFileSync(join(folder, "bad.acl"), "user u on nokeys\n# comment\n");
    const run = acl("can", "bad.acl", "--user", "u", "--", "GET", "k");
    expect(run.code).toBe(2);
    expect(run.stderr).toContain("redis-7.2 does not load bad.acl:");
    expect(run.stderr).toContain("bad.acl:1:11: Syntax error");
    expect(run.stderr).toContain("bad.acl:2:1: should start with user keyword");
  });
});

describe("acl show", () => {
  it("prints users as ACL GETUSER does", () => {
    const run = acl("show", "users.acl", "--user", "u", "--format", "json");
    expect(run.code).toBe(0);
    expect(JSON.parse(run.stdout)).toEqual({
      version: 1,
      file: "users.acl",
      server: "redis-7.2",
      users: {
        u: {
          flags: ["on", "sanitize-payload"],
          passwords: ["2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"],
          commands: "-@all +@read +getset +publish",
          keys: "%R~k* ~own:*",
          channels: "&news",
          selectors: [],
        },
      },
    });
  });

  it("shows every user, also the one that the server makes", () => {
    writeFileSync(join(folder, "open.acl"), "user app on >x ~app:* +get (~other:* +set)\n");
    const run = acl("show", "open.acl");
    expect(run.code).toBe(0);
    expect(run.stdout).toContain("user default  (no line defines it: the server makes it)");
    expect(run.stdout).toContain("selector  -@all +set ~other:*");
  });

  it("keeps placeholders as they are written", () => {
    const template = "fixtures/redis-lab/infra/redis-lab/config/redis-users.acl.tmpl";
    const run = quorumlint(["acl", "show", template, "--user", "replica", "--format", "json"], { cwd: root });
    expect(run.code).toBe(0);
    const { users } = JSON.parse(run.stdout) as { users: Record<string, { passwords: string[] }> };
    expect(users["replica"]!.passwords).toEqual([">${REPLICA_PASSWORD}"]);
  });

  it("reads standard input, and the user lines of a configuration", () => {
    const piped = quorumlint(["acl", "show", "-", "--user", "u"], { cwd: folder, input: USERS });
    expect({ code: piped.code, keys: /keys +(.*)/.exec(piped.stdout)?.[1] }).toEqual({ code: 0, keys: "%R~k* ~own:*" });
    mkdirSync(join(folder, "conf"), { recursive: true });
    writeFileSync(join(folder, "conf/redis.conf"), 'port 0\nuser "a" on >x ~* +@all\n');
    const conf = acl("show", "conf/redis.conf", "--user", "a");
    expect({ code: conf.code, keys: /keys +(.*)/.exec(conf.stdout)?.[1] }).toEqual({ code: 0, keys: "~*" });
  });

  it("takes a Sentinel's table", () => {
    writeFileSync(join(folder, "sentinel.acl"), "user p on >x -@all +ping +sentinel|is-master-down-by-addr\n");
    expect(acl("show", "sentinel.acl", "--server", "7.2/sentinel").code).toBe(0);
    const data = acl("show", "users.acl", "--server", "7.2/sentinel");
    expect(data.code).toBe(2);
    expect(data.stderr).toContain("+getset");
  });
});

describe("acl diff", () => {
  it("compares by effect, not by text", () => {
    writeFileSync(
      join(folder, "same.acl"),
      "user u on >secret ~own:* %R~k* &news -@all +publish +@read +getset\nuser default off nopass resetpass\n",
    );
    expect(acl("diff", "users.acl", "same.acl")).toEqual({ code: 0, stdout: "no effective difference\n", stderr: "" });
  });

  it("names what is added and removed", () => {
    writeFileSync(
      join(folder, "other.acl"),
      "user default off\nuser u off >secret %R~k* &news -@all +@read +getset +publish +set\nuser w on >w +ping\n",
    );
    const run = acl("diff", "users.acl", "other.acl");
    expect(run.code).toBe(0);
    expect(run.stdout).toBe(
      "~ user u\n  on → off\n  commands added: set\n  keys removed: ~own:*\n\n+ user w\n  commands added: ping\n  passwords: 0 removed, 1 added\n",
    );
    const json = JSON.parse(acl("diff", "users.acl", "other.acl", "--format", "json").stdout) as {
      users: { name: string }[];
    };
    expect(json.users.map((u) => u.name)).toEqual(["u", "w"]);
  });
});

describe("acl suggest", () => {
  const suggest = (...args: string[]) => quorumlint(["acl", "suggest", ...args], { cwd: root });

  it("prints the least line of the user that runs the programs", () => {
    const run = suggest("fixtures/programs", "--role", "application");
    expect(run.stderr).toBe("");
    expect(run.code).toBe(0);
    expect(run.stdout).toMatch(
      /^user app on >\$\{APP_PASSWORD\} resetkeys ~app:\S+ .* -@all \+evalsha \+script\|load .*\n$/,
    );
  });

  it("as JSON", () => {
    const run = suggest("fixtures/programs", "--user", "app", "--format", "json");
    const { users } = JSON.parse(run.stdout) as { users: { user: string; commands: string[]; open: unknown[] }[] };
    expect(users.map((u) => [u.user, u.open])).toEqual([["app", []]]);
    expect(users[0]!.commands).toContain("+evalsha");
  });

  it.each([
    [["fixtures/programs", "--role", "replica"], "only the line of application"],
    [["fixtures/programs", "--user", "apq"], 'did you mean "app"'],
    [["fixtures/inferred"], "has no programs"],
    [["nowhere"], "there is no file or directory"],
  ] as const)("%j is a mistake", (args, text) => {
    const run = suggest(...args);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(text);
  });
});
