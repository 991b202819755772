/** ACL rules where nothing is declared: who plays which role, what is unknown, which version is judged. */
import { describe, expect, it } from "vitest";
import { checkTree, tree } from "../support.js";

interface Found {
  readonly rule: string;
  readonly id: string;
  readonly severity: string;
  readonly place: string;
}

async function found(files: Readonly<Record<string, string>>, only = /^acl\//): Promise<Found[]> {
  const run = await checkTree(tree(files));
  expect(run.faults).toEqual([]);
  expect(run.result.crashes.map((c) => c.error.stack)).toEqual([]);
  return run.result.diagnostics
    .filter((d) => only.test(d.rule))
    .map((d) => ({
      rule: d.rule,
      id: d.messageId,
      severity: d.severity,
      place: `${d.at.source.file}:${d.at.source.position(d.at.start).line}`,
    }));
}

const ids = (list: readonly Found[]): string[] => list.map((f) => `${f.rule} ${f.id} ${f.severity} ${f.place}`);
const MONITOR = "sentinel monitor main 10.0.0.1 6379 2\n";
const CONTROL =
  "&__sentinel__:hello -@all +multi +slaveof +ping +exec +subscribe +config|rewrite +role +publish +info +client|setname +client|kill +script|kill";

describe("roles by wiring", () => {
  const set = (control: string) => ({
    "redis.conf.tmpl": "aclfile /etc/redis/users.acl\nmasteruser repl\nmasterauth ${REPL}\n",
    "sentinel.conf.tmpl": `${MONITOR}sentinel auth-user main watch\nsentinel auth-pass main \${WATCH}\n`,
    "users.acl.tmpl": `user default off\nuser repl on >\${REPL} +psync +replconf\nuser watch on >\${WATCH} ${control}\nuser app on >\${APP} ~app:* -@all +get\n`,
  });

  it("is silent where all is right", async () => {
    expect(ids(await found(set(CONTROL)))).toEqual([]);
  });

  it("judges the user that sentinel auth-user names", async () => {
    expect(ids(await found(set(CONTROL.replace(" +config|rewrite", ""))))).toEqual([
      "acl/sentinel-control-user missing error users.acl.tmpl:3",
    ]);
  });

  it("finds it before its monitor line, and without one", async () => {
    const files = {
      ...set(CONTROL.replace(" +info", "")),
      "sentinel.conf.tmpl": "sentinel auth-user main watch\nsentinel auth-pass main ${WATCH}\n",
    };
    expect(ids(await found(files))).toEqual(["acl/sentinel-control-user missing error users.acl.tmpl:3"]);
  });

  it("reads users of a redis.conf too", async () => {
    const conf =
      'masteruser repl\nmasterauth ${REPL}\nuser default off\nUSER "repl" on ">${REPL}" +psync\nuser app on >${APP} ~app:* +get -@all\n';
    expect(
      ids(await found({ "redis.conf.tmpl": conf, "sentinel.conf.tmpl": `${MONITOR}sentinel auth-user main repl\n` })),
    ).toEqual([
      "acl/replica-user missing error redis.conf.tmpl:4",
      "acl/role-separation shared warning redis.conf.tmpl:4",
      "acl/sentinel-control-user missing error redis.conf.tmpl:4",
      "acl/sentinel-control-user recommended warning redis.conf.tmpl:4",
      "acl/effective-grant revoked warning redis.conf.tmpl:5",
      "acl/wiring no-password error sentinel.conf.tmpl:2",
    ]);
  });

  it("does not take a possible replica user for an application", async () => {
    const acl = "user default off\nuser copy on >${COPY} +psync +replconf +ping\n";
    expect(
      ids(await found({ "users.acl.tmpl": acl, "redis.conf.tmpl": "aclfile /etc/redis/users.acl\n" }, /least/)),
    ).toEqual([]);
  });
});

describe("what is not known", () => {
  it("a script that writes users may write the missing one", async () => {
    const files = {
      "redis.conf.tmpl": "aclfile /data/users.acl\n",
      "users.acl.tmpl": "user app on >${APP} ~app:* -@all +get\n",
      "init.sh": '#!/bin/sh\necho "user default off" >> /data/users.acl\n',
    };
    expect(ids(await found(files, /default-user/))).toEqual([]);
    expect(
      ids(await found({ ...files, "init.sh": "#!/bin/sh\ncp /config/users.acl /data/users.acl\n" }, /default-user/)),
    ).toEqual(["acl/default-user open error users.acl.tmpl:1"]);
  });

  it("a refused line is one finding, not two", async () => {
    const files = {
      "redis.conf.tmpl": "aclfile /data/users.acl\nmasteruser repl\nmasterauth ${REPL}\n",
      "users.acl.tmpl": "user default off\nuser repl on >${REPL} +psync +replcon +ping\n",
    };
    expect(ids(await found(files))).toEqual(["acl/syntax command error users.acl.tmpl:2"]);
  });

  it("an ACL file that another name means", async () => {
    const files = {
      "redis.conf.tmpl": "aclfile /data/users.acl\nmasteruser repl\nmasterauth ${REPL}\n",
      "users.acl.tmpl": "user default off\nuser repl on >${REPL} +psync +replconf +ping\n",
      "sentinel.conf.tmpl": `aclfile /data/sentinel.acl\n${MONITOR}`,
    };
    expect(ids(await found(files, /plane|syntax|default/))).toEqual([]);
  });
});

describe("one file for both planes", () => {
  it("is one finding", async () => {
    const files = {
      "redis.conf.tmpl": "aclfile /data/users.acl\nmasteruser repl\nmasterauth ${REPL}\n",
      "users.acl.tmpl": `user default off\nuser repl on >\${REPL} +psync +replconf +ping\nuser watch on >\${WATCH} ${CONTROL}\nuser peer on >\${PEER} +@all\n`,
      "sentinel.conf.tmpl": `aclfile /data/users.acl\n${MONITOR}sentinel auth-user main watch\nsentinel auth-pass main \${WATCH}\nsentinel sentinel-user peer\nsentinel sentinel-pass \${PEER}\n`,
    };
    expect(ids(await found(files, /plane|syntax|role-sep/))).toEqual([
      "acl/plane-separation shared error users.acl.tmpl:1",
    ]);
  });
});

describe("versions", () => {
  const declared = (version: string, acl: string) => ({
    "quorumlint.yaml": `version: 1\ncontracts:\n  small:\n    redis: { minimumVersion: "${version}" }\n    planes: { data: { acl: users.acl.tmpl } }\n`,
    "users.acl.tmpl": acl,
  });
  const COMMENT = "# closed\nuser default off\n";

  it.each([
    ["7.2", COMMENT, ["acl/syntax comment error users.acl.tmpl:1"]],
    ["8.0", COMMENT, ["acl/syntax comment error users.acl.tmpl:1"]],
    ["8.8", COMMENT, []],
    ["valkey-9.1", COMMENT, ["acl/syntax comment error users.acl.tmpl:1"]],
    ["7.2", "user default off db=0\n", ["acl/syntax rule error users.acl.tmpl:1"]],
    ["valkey-9.1", "user default off db=0\n", []],
    ["6.2", "user default off (+get)\n", ["acl/syntax rule error users.acl.tmpl:1"]],
    ["6.2", "user default off\nuser default off\n", []],
    ["7.0", "user default off\nuser default off\n", ["acl/syntax duplicate error users.acl.tmpl:2"]],
  ])("%s reads %j", async (version, acl, expected) => {
    expect(ids(await found(declared(version, acl), /syntax|default/))).toEqual(expected);
  });

  it("without a version, what some current server has is no error", async () => {
    const acl = (rule: string) => ({
      "users.acl.tmpl": `user default off\nuser app on >\${APP} ~app:* -@all +get ${rule}\n`,
    });
    expect(ids(await found(acl("+hexpire"), /syntax/))).toEqual([]);
    expect(ids(await found(acl("alldbs"), /syntax/))).toEqual([]);
    expect(ids(await found(acl("+hexpired"), /syntax/))).toEqual(["acl/syntax command error users.acl.tmpl:2"]);
  });
});

describe("commands of modules", () => {
  const acl = (conf: string, version: string, rule = "+ft.search") => ({
    "quorumlint.yaml": `version: 1\ncontracts:\n  all:\n    redis: { minimumVersion: "${version}" }\n    planes:\n      data: { config: redis.conf.tmpl, acl: users.acl.tmpl }\n`,
    "redis.conf.tmpl": `aclfile /acl/users.acl\n${conf}`,
    "users.acl.tmpl": `user default off\nuser app on >\${APP} ~app:* -@all +get ${rule}\n`,
  });
  const lines = (conf: string, rule = "+ft.search") => ({
    "redis.conf.tmpl": `${conf}user default off\nuser app on >\${APP} ~app:* -@all +get ${rule}\n`,
    "deployment.yaml":
      "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: { name: r }\nspec: { selector: { matchLabels: { a: b } }, template: { metadata: { labels: { a: b } }, spec: { containers: [{ name: redis, image: 'redis:7.2.4', args: [/c/redis.conf] }] } } }\n",
  });
  const said = async (files: Readonly<Record<string, string>>) => ids(await found(files, /syntax|redis\/directive/));

  it("are wrong where no module is loaded", async () => {
    expect(await said(acl("", "7.2"))).toEqual(["acl/syntax command error users.acl.tmpl:2"]);
    expect(await said(lines(""))).toEqual(["redis/directive fatal error redis.conf.tmpl:2"]);
  });

  it("may be right where one is, where an include may load one, and where the server brings its own", async () => {
    expect(await said(acl("loadmodule /m/search.so\n", "7.2"))).toEqual([]);
    expect(await said(acl("loadmodule /m/own.so\n", "7.2", "+own"))).toEqual([]);
    expect(await said(acl("include /c/more.conf\n", "7.2", "+@search"))).toEqual([]);
    expect(await said(acl("", "8.0", "+json.get"))).toEqual([]);
    expect(await said(lines("loadmodule /m/search.so\n"))).toEqual([]);
    expect(await said(lines("include /c/more.conf\n"))).toEqual([]);
  });

  it("hide no other mistake", async () => {
    expect(await said(acl("include /c/more.conf\n", "7.2", "+gett"))).toEqual([
      "acl/syntax command error users.acl.tmpl:2",
    ]);
    expect(await said(lines("include /c/more.conf\n", "+gett"))).toEqual([
      "redis/directive fatal error redis.conf.tmpl:3",
    ]);
  });
});

describe("user lines beside an include", () => {
  it("are the users: no server starts with an ACL file as well", async () => {
    const files = {
      "redis.conf.tmpl": "include /c/more.conf\nuser default off\nuser app on >${APP} ~app:* +get -@all\n",
    };
    expect(ids(await found(files))).toEqual(["acl/effective-grant revoked warning redis.conf.tmpl:3"]);
  });
});

describe("a configuration of an unknown server", () => {
  it("may be one of Valkey", async () => {
    const files = { "valkey.conf": "primaryauth x\nprimaryuser default\nport 6379\n" };
    expect(ids(await found(files, /redis\/directive/))).toEqual([]);
    const sentinel = {
      "sentinel.conf": "sentinel monitor m 10.0.0.1 6379 2\nsentinel primary-reboot-down-after-period m 0\n",
    };
    expect(ids(await found(sentinel, /redis\/directive/))).toEqual([]);
  });

  it("is wrong where every server refuses it", async () => {
    const files = { "redis.conf": "primaryautt x\nport 6379\nmaxmemory-policy never\n" };
    expect(ids(await found(files, /redis\/directive/))).toEqual([
      "redis/directive fatal error redis.conf:1",
      "redis/directive fatal error redis.conf:3",
    ]);
  });
});

describe("several servers, each with a file of its own", () => {
  const contract = (roles: string) =>
    `version: 1\ncontracts:\n  all:\n    redis: { minimumVersion: "7.2" }\n    planes:\n      data: { config: "data*/redis.conf.tmpl" }\n    roles: { ${roles} }\nrules: { "redis/*": off }\n`;
  const server = (n: number, acl: string) => ({
    [`data${n}/redis.conf.tmpl`]: `aclfile /data${n}/users.acl\nmasteruser replica\nmasterauth \${REPLICA}\n`,
    [`data${n}/users.acl.tmpl`]: `user default off\n${acl}`,
  });
  const replica = "user replica on >${REPLICA} -@all +psync +replconf +ping\n";

  it("finds the files by their aclfile", async () => {
    const files = {
      "quorumlint.yaml": contract("replica: replica"),
      ...server(1, replica),
      ...server(2, replica),
      ...server(3, ""),
    };
    expect(ids(await found(files))).toEqual(["acl/plane-separation missing error data3/users.acl.tmpl:1"]);
  });

  it("a user that all of them lack is said where it is named", async () => {
    const files = { "quorumlint.yaml": contract("replica: replica"), ...server(1, ""), ...server(2, "") };
    expect(ids(await found(files))).toEqual([
      "acl/wiring unknown-user error data1/redis.conf.tmpl:2",
      "acl/wiring unknown-user error data2/redis.conf.tmpl:2",
    ]);
  });
});

describe("hostile input", () => {
  it.each([
    ["20,000 rules in a line", `user default off\nuser app on >\${APP} ${"+get -@read +@all -@all ".repeat(5000)}\n`],
    [
      "2,000 users",
      `user default off\n${Array.from({ length: 2000 }, (_, i) => `user u${i} on >\${P${i}} ~a:${i}:* ~b:${i}:* -@all +@read\n`).join("")}`,
    ],
    [
      "1,000 patterns",
      `user default off\nuser app on >\${APP} ${Array.from({ length: 1000 }, (_, i) => `~*[a-${i}]*${i}*`).join(" ")} +get\n`,
    ],
    [
      "10,000 wrong rules",
      `user default off\nuser app on >\${APP} ${Array.from({ length: 10_000 }, (_, i) => `+@nothing${i}`).join(" ")}\n`,
    ],
    ["5,000 selectors", `user default off\nuser app on >\${APP} ${"(~a:* +get) ".repeat(5000)}\n`],
  ])("%s: bounded time", async (_, acl) => {
    const started = performance.now();
    await found({ "users.acl.tmpl": acl, "redis.conf.tmpl": "aclfile /data/users.acl\n" });
    // a generous bound on a busy machine; what it must not be is quadratic
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});
