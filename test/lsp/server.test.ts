/** The language server as a process: what an editor shows while somebody types in several files. */
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { goldenCopy, quorumlint, removeTemporary, temporary } from "../cli/run.js";
import { Client, type ClientOptions } from "./client.js";

afterAll(removeTemporary);

let client: Client;
async function start(folder = goldenCopy(), options: ClientOptions = {}): Promise<Client> {
  client = await Client.start(folder, options);
  return client;
}
afterEach(() => {
  client?.child.kill("SIGKILL");
});

const ACL = "infra/redis-lab/config/redis-users.acl.tmpl";
const CONF = "infra/redis-lab/config/redis.conf.tmpl";
const SENTINEL = "infra/redis-lab/k3s/redis-sentinel.yaml";
const DATA = "infra/redis-lab/k3s/redis-data.yaml";
const CONTRACT = "quorumlint.yaml";

describe("diagnostics", () => {
  it("over an unsaved buffer, at the right place, with the rule and where it is explained", async () => {
    const c = await start();
    expect(c.initialized!.serverInfo!.name).toBe("quorumlint");
    c.open(SENTINEL);
    await c.untilRules(SENTINEL);
    c.type(SENTINEL, "minAvailable: 2", "minAvailable: 3");
    const [shown] = await c.untilRules(SENTINEL, "k8s/disruption-budget");
    expect(c.slice(SENTINEL, shown!.range)).toBe("3");
    expect(shown!.severity).toBe(1);
    expect(shown!.source).toBe("quorumlint");
    expect(shown!.codeDescription!.href).toContain("k8s/disruption-budget");
    expect(shown!.message).toContain("never allows an eviction");
    c.type(SENTINEL, "minAvailable: 3", "minAvailable: 2");
    await c.untilRules(SENTINEL);
    // the file on the disk was never touched
    expect(readFileSync(join(c.folder, SENTINEL), "utf8")).toBe(c.text(SENTINEL));
    expect(await c.stop()).toBe(0);
  });

  it("across files: editing the ACL brings and clears findings in the manifest and in the configuration", async () => {
    const c = await start();
    for (const file of [ACL, CONF, DATA]) c.open(file);
    await c.untilRules(DATA);
    c.type(ACL, "user probe ", "user prober ");
    const shown = await c.untilRules(DATA, "acl/script-access", "acl/script-access", "acl/script-access");
    for (const d of shown) expect(c.slice(DATA, d.range)).toBe("probe");
    c.type(ACL, "user replica ", "user replicant ");
    const [wiring] = await c.untilRules(CONF, "acl/wiring");
    expect(c.slice(CONF, wiring!.range)).toBe("replica");
    // the ACL changes back, and the other files are clean: no save in between
    c.type(ACL, "user prober ", "user probe ");
    await c.untilRules(DATA);
    await c.untilRules(CONF, "acl/wiring");
    // closing without saving: the file on the disk counts again
    c.close(ACL);
    await c.untilRules(CONF);
  });

  it("findings of files that are not open, and of the contract file itself", async () => {
    const c = await start();
    c.open(CONTRACT);
    await c.untilRules(CONTRACT);
    c.type(CONTRACT, "port: 26379 }", "port: 26380 }");
    await c.until("infra/redis-lab/k3s/network-policies.yaml", (shown) =>
      shown.some((d) => d.code === "network/edges"),
    );
    c.type(CONTRACT, "planes:", "plains:");
    const [fault] = await c.until(CONTRACT, (shown) => shown.length === 1 && shown[0]!.code === undefined);
    expect(fault!.message).toContain('did you mean "planes"?');
    expect(c.slice(CONTRACT, fault!.range)).toBe("plains");
    // nothing is known of the rest while the contract file is faulty: nothing stale stays
    await c.untilRules("infra/redis-lab/k3s/network-policies.yaml");
    c.type(CONTRACT, "plains:", "planes:");
    c.type(CONTRACT, "port: 26380 }", "port: 26379 }");
    await c.untilRules(CONTRACT);
    await c.untilRules("infra/redis-lab/k3s/network-policies.yaml");
  });

  it("columns count UTF-16 code units, CRLF and a byte order mark included", async () => {
    const folder = temporary();
    writeFileSync(join(folder, "a.acl"), "\ufeffuser default on nopass ~* &* +@all\r\n");
    const c = await start(folder);
    const text = "user 𝒻𝒶 on >pw ~* +@al\r\nuser b on >x ~* +@all\r\n";
    c.open("b.acl", text);
    const shown = await c.until("b.acl", (all) => all.some((d) => d.code === "acl/syntax"));
    const syntax = shown.find((d) => d.code === "acl/syntax")!;
    expect(c.slice("b.acl", syntax.range)).toBe("+@al");
    expect(syntax.range.start).toEqual({ line: 0, character: "user 𝒻𝒶 on >pw ~* ".length });
    const marked = await c.until("a.acl", (all) => all.length > 0);
    expect(marked.every((d) => d.range.start.line === 0)).toBe(true);
    const onDisk = quorumlint(["check", folder, "--format", "json", "--fail-on", "never"]);
    const own = JSON.parse(onDisk.stdout).diagnostics.filter((d: { file: string }) => d.file === "a.acl");
    expect(marked.map((d) => d.range.start.character + 1)).toEqual(
      own.map((d: { range: { start: { column: number } } }) => d.range.start.column),
    );
  });

  it("says the same as the command line for the same files", async () => {
    const folder = goldenCopy();
    for (const [file, from, to] of [
      [SENTINEL, "minAvailable: 2", "minAvailable: 3"],
      [ACL, "+config|rewrite ", ""],
      [CONF, "appendonly yes", "appendonly no"],
    ] as const)
      writeFileSync(join(folder, file), readFileSync(join(folder, file), "utf8").replace(from, to));
    const c = await start(folder);
    const run = JSON.parse(quorumlint(["check", folder, "--format", "json"]).stdout);
    expect(run.diagnostics.length).toBeGreaterThanOrEqual(3);
    for (const file of new Set<string>(run.diagnostics.map((d: { file: string }) => d.file))) {
      const own = run.diagnostics.filter((d: { file: string }) => d.file === file);
      const shown = await c.until(file, (all) => all.length === own.length);
      expect(shown.map((d) => [d.code, d.range.start.line + 1, d.range.start.character + 1])).toEqual(
        own.map((d: { rule: string; range: { start: { line: number; column: number } } }) => [
          d.rule,
          d.range.start.line,
          d.range.start.column,
        ]),
      );
    }
  });
});

describe("nothing stale", () => {
  it("what is published is for the newest version, however fast one types", async () => {
    const c = await start();
    c.open(SENTINEL);
    await c.untilRules(SENTINEL);
    let version = 0;
    for (let i = 0; i < 60; i++) {
      version = c.type(
        SENTINEL,
        i % 2 === 0 ? "minAvailable: 2" : "minAvailable: 3",
        i % 2 === 0 ? "minAvailable: 3" : "minAvailable: 2",
      );
      if (i % 10 === 9) await new Promise((resolve) => setTimeout(resolve, 30));
    }
    await c.until(SENTINEL, (_, p) => p.version === version);
    expect(c.rules(SENTINEL)).toEqual([]);
    // versions never go back, and no published state contradicts the text of its version
    const own = c.published.filter((p) => p.uri === c.uri(SENTINEL) && p.version !== undefined);
    for (const [i, p] of own.entries()) {
      expect(p.version).toBeGreaterThanOrEqual(own[i - 1]?.version ?? 0);
      expect(p.diagnostics.length, `version ${p.version}`).toBe(p.version! % 2 === 0 ? 1 : 0);
    }
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(c.published.findLast((p) => p.uri === c.uri(SENTINEL))!.version).toBe(version);
  });

  it("a request that is cancelled is answered as cancelled, and the server goes on", async () => {
    const c = await start();
    c.open(SENTINEL);
    const asked = [1, 2, 3, 4].map(() =>
      c.send("textDocument/hover", { textDocument: { uri: c.uri(SENTINEL) }, position: { line: 0, character: 0 } }),
    );
    for (const { id } of asked) c.notify("$/cancelRequest", { id });
    const ends = await Promise.allSettled(asked.map((a) => a.result));
    for (const end of ends) {
      if (end.status === "rejected") expect((end.reason as { code: number }).code).toBe(-32800);
      else expect(end.value).toBeNull();
    }
    await c.untilRules(SENTINEL);
    expect(c.logged).toEqual([]);
  });

  it("hostile and half-typed text neither ends the server nor hides later findings", async () => {
    const c = await start();
    for (const file of [SENTINEL, ACL, CONTRACT]) c.open(file);
    await c.untilRules(SENTINEL);
    for (const text of [
      "[".repeat(20_000),
      "a: &x [*x, *x]\n",
      "\u0000\u0001",
      "user ".repeat(50_000),
      "- - - - -\n: :",
      "",
    ]) {
      for (const file of [SENTINEL, ACL, CONTRACT]) {
        const before = c.text(file);
        c.type(file, before, text === "" ? " " : text);
        await c.request("textDocument/completion", {
          textDocument: { uri: c.uri(file) },
          position: { line: 0, character: 3 },
        });
        await c.request("textDocument/hover", {
          textDocument: { uri: c.uri(file) },
          position: { line: 9999, character: 9999 },
        });
        c.type(file, c.text(file), before);
      }
    }
    c.type(SENTINEL, "minAvailable: 2", "minAvailable: 3");
    await c.untilRules(SENTINEL, "k8s/disruption-budget");
    expect(c.logged).toEqual([]);
  });
});

describe("folders and files", () => {
  it("several workspace folders, one added and one removed later", async () => {
    const [one, two, three] = [goldenCopy(), goldenCopy(), goldenCopy()];
    for (const folder of [one, two, three])
      writeFileSync(join(folder, ACL), readFileSync(join(folder, ACL), "utf8").replace("+config|rewrite ", ""));
    const c = await start(one, { folders: [one, two] });
    for (const folder of [one, two]) await c.untilRules(join(folder, ACL), "acl/sentinel-control-user");
    expect(c.shown(join(three, ACL))).toEqual([]);
    const folder = (path: string) => ({ uri: pathToFileURL(path).href, name: path });
    c.notify("workspace/didChangeWorkspaceFolders", { event: { added: [folder(three)], removed: [folder(two)] } });
    await c.untilRules(join(three, ACL), "acl/sentinel-control-user");
    await c.untilRules(join(two, ACL));
    await c.untilRules(join(one, ACL), "acl/sentinel-control-user");
  });

  it("a file outside of every folder brings the contract that it belongs to", async () => {
    const folder = goldenCopy();
    const c = await start(folder, { folders: [] });
    c.open(SENTINEL);
    await c.untilRules(SENTINEL);
    c.type(SENTINEL, "minAvailable: 2", "minAvailable: 3");
    await c.untilRules(SENTINEL, "k8s/disruption-budget");
    c.close(SENTINEL);
    await c.untilRules(SENTINEL);
  });

  it("links that lead out of the folder are findings, not silence: an ACL, the contract file", async () => {
    const folder = goldenCopy();
    const outside = temporary();
    renameSync(join(folder, ACL), join(outside, "users.acl"));
    symlinkSync(join(outside, "users.acl"), join(folder, ACL));
    const c = await start(folder);
    const [shown] = await c.until(ACL, (all) => all.length > 0);
    expect(shown!.message).toContain("a symbolic link leads out of the directory");
    renameSync(join(folder, CONTRACT), join(outside, CONTRACT));
    symlinkSync(join(outside, CONTRACT), join(folder, CONTRACT));
    // what was read a moment ago holds unless somebody tells
    c.notify("workspace/didChangeWatchedFiles", { changes: [{ uri: c.uri(CONTRACT), type: 2 }] });
    const [fault] = await c.until(CONTRACT, (all) => all.length > 0);
    expect(fault!.message).toContain("a symbolic link leads out of the directory");
  });

  it("files created, changed and deleted on the disk", async () => {
    const c = await start(goldenCopy(), { watches: true });
    c.open(SENTINEL);
    await c.untilRules(SENTINEL);
    for (let waited = 0; c.registered.length === 0 && waited < 5000; waited += 20)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(c.registered).toEqual(["workspace/didChangeWatchedFiles"]);
    const extra = "infra/redis-lab/k3s/extra.yaml";
    const tell = (file: string, type: 1 | 2 | 3): void =>
      c.notify("workspace/didChangeWatchedFiles", { changes: [{ uri: c.uri(file), type }] });
    writeFileSync(
      join(c.folder, extra),
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: extra\n  namespace: redis-lab\ndata: {}\n",
    );
    tell(extra, 1);
    await c.untilRules(extra, "k8s/inventory");
    rmSync(join(c.folder, extra));
    tell(extra, 3);
    await c.untilRules(extra);
    writeFileSync(join(c.folder, ACL), readFileSync(join(c.folder, ACL), "utf8").replace("+config|rewrite ", ""));
    tell(ACL, 2);
    await c.untilRules(ACL, "acl/sentinel-control-user");
    // the contract file goes away: what is left is inferred
    rmSync(join(c.folder, CONTRACT));
    tell(CONTRACT, 3);
    await c.until(ACL, (shown) => shown.length > 0 && shown[0]!.severity === 1);
  });

  it("without file events the disk is looked at again with the next change", async () => {
    const c = await start();
    c.open(SENTINEL);
    await c.untilRules(SENTINEL);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    writeFileSync(join(c.folder, ACL), readFileSync(join(c.folder, ACL), "utf8").replace("+config|rewrite ", ""));
    c.type(SENTINEL, "minAvailable: 2", "minAvailable: 2 ");
    await c.untilRules(ACL, "acl/sentinel-control-user");
  });

  it("a file of no contract costs no check, and takes nothing from the others", async () => {
    const c = await start();
    c.open("notes.txt", "hello\n");
    c.open(SENTINEL);
    await c.until("notes.txt", (shown) => shown.length === 0);
    await c.untilRules(SENTINEL);
    for (let i = 0; i < 5; i++) c.type("notes.txt", "hello", "hello hello");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(c.published.findLast((p) => p.uri === c.uri("notes.txt"))!.version).toBe(1);
    c.type(SENTINEL, "minAvailable: 2", "minAvailable: 3");
    await c.untilRules(SENTINEL, "k8s/disruption-budget");
  });

  it("a new file that was never saved is part of an inferred contract", async () => {
    const folder = temporary();
    mkdirSync(join(folder, "k8s"));
    const c = await start(folder);
    c.open("k8s/users.acl", "user default on nopass ~* &* +@all\n");
    await c.until("k8s/users.acl", (shown) => shown.some((d) => d.code === "acl/default-user"));
  });
});

describe("hover", () => {
  it("why the rule exists, on its finding and on its id", async () => {
    const c = await start();
    c.open(SENTINEL);
    c.open(CONTRACT);
    c.type(SENTINEL, "minAvailable: 2", "minAvailable: 3");
    const hover = await c.hover(SENTINEL, "minAvailable: 3", 14);
    expect((hover!.contents as { value: string }).value).toMatch(/\*Why:\*/);
    expect((hover!.contents as { value: string }).value).toContain("docs/rules/k8s/disruption-budget.md");
    expect(c.slice(SENTINEL, hover!.range!)).toBe("3");
    expect(await c.hover(SENTINEL, "kind: StatefulSet", 1)).toBeNull();
    c.type(CONTRACT, "version: 1\n", "version: 1\nrules:\n  k8s/exec-probe: warning\n");
    expect(((await c.hover(CONTRACT, "k8s/exec-probe", 5))!.contents as { value: string }).value).toMatch(/\*Why:\*/);
  });

  it("what a word of an ACL grants, from the table of the server that the contract names", async () => {
    const c = await start();
    c.open(ACL);
    const value = async (what: string, into = 1): Promise<string> =>
      ((await c.hover(ACL, what, into))!.contents as { value: string }).value;
    c.type(ACL, "+ping +get ", "+@connection +ping +get ");
    const category = await value("+@connection");
    expect(category).toMatch(/Grants the \d+ commands of category `@connection` on redis-7\.2\./);
    for (const command of ["auth", "hello", "client|kill"]) expect(category).toContain(`\`${command}\``);
    expect(category).not.toContain("`get`");
    expect(await value("+config|rewrite")).toContain("Grants `config|rewrite`");
    expect(await value("-@all +psync")).toContain("Takes away all commands");
    expect(await value("~app:{*}:cfg")).toContain("Keys that match `app:{*}:cfg:*`, to read and write");
    expect(await value("&__sentinel__")).toContain("Pub/Sub channels that match");
    expect(await value(">${REPLICA")).toContain("A password that is filled in later");
    expect(await value("user sentinel-control", 8)).toMatch(
      /\*\*user sentinel-control\*\* as redis-7\.2 sees it[\s\S]*commands: `-@all/,
    );
    expect(await c.hover(ACL, "user replica", 1)).toBeNull();
    // another server, another table
    c.open(CONTRACT);
    c.type(CONTRACT, 'minimumVersion: "7.2"', 'minimumVersion: "valkey-8.0"');
    expect(await value("+@connection")).toContain("on valkey-8.0.");
  });

  it("words of an ACL inside a ConfigMap", async () => {
    const folder = temporary();
    writeFileSync(
      join(folder, "redis.yaml"),
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: acl\ndata:\n  users.acl: |\n    user default off\n    user app on >${PW} ~a:* +@read\n",
    );
    const c = await start(folder);
    c.open("redis.yaml");
    const hover = await c.hover("redis.yaml", "+@read", 2);
    expect((hover!.contents as { value: string }).value).toContain("category `@read`");
    expect(c.slice("redis.yaml", hover!.range!)).toBe("+@read");
  });
});

describe("code actions", () => {
  it("a fix repairs its finding, and fix-all repairs the file", async () => {
    const c = await start();
    c.open(CONF);
    await c.untilRules(CONF);
    c.type(CONF, "appendfsync everysec", "appendfsync everysec # log");
    const [shown] = await c.until(CONF, (all) => all.some((d) => d.code === "redis/directive"));
    const actions = await c.actions(CONF, shown!.range);
    const fix = actions.find((a) => a.isPreferred === true);
    expect(fix, JSON.stringify(actions.map((a) => a.title))).toBeDefined();
    expect(fix!.kind).toBe("quickfix");
    expect(fix!.diagnostics![0]!.code).toBe("redis/directive");
    c.apply(fix!);
    await c.untilRules(CONF);
    expect(c.text(CONF)).toBe(readFileSync(join(c.folder, CONF), "utf8"));

    c.type(CONF, "appendfsync everysec", "appendfsync everysec # log");
    c.type(CONF, "appendonly yes", "appendonly yes # on");
    await c.until(CONF, (all) => all.filter((d) => d.code === "redis/directive").length === 2);
    const nowhere = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
    const all = await c.actions(CONF, nowhere, ["source.fixAll"]);
    expect(all.map((a) => a.kind)).toEqual(["source.fixAll.quorumlint"]);
    expect(await c.actions(CONF, nowhere, ["refactor"])).toEqual([]);
    c.apply(all[0]!);
    await c.untilRules(CONF);
    expect(c.text(CONF)).toBe(readFileSync(join(c.folder, CONF), "utf8"));
  });

  it("accepting with a reason: a comment where one is possible, else an entry of the contract file; each is tried before it is offered", async () => {
    const c = await start();
    for (const file of [SENTINEL, ACL, CONTRACT]) c.open(file);
    await c.untilRules(SENTINEL);
    c.type(SENTINEL, "minAvailable: 2", "minAvailable: 3");
    const [budget] = await c.untilRules(SENTINEL, "k8s/disruption-budget");
    const [comment] = (await c.actions(SENTINEL, budget!.range)).filter((a) => a.title.startsWith("Accept"));
    expect(comment!.title).toBe("Accept k8s/disruption-budget on this line, with a reason");
    c.apply(comment!);
    await c.untilRules(SENTINEL);
    expect(c.text(SENTINEL)).toMatch(
      /\n {2}# quorumlint: ignore\[k8s\/disruption-budget\] accepted \d{4}-\d\d-\d\d: say why\n {2}minAvailable: 3\n/,
    );

    // an ACL file has no comments
    c.type(ACL, "+config|rewrite ", "");
    const [control] = await c.untilRules(ACL, "acl/sentinel-control-user");
    const [entry] = (await c.actions(ACL, control!.range)).filter((a) => a.title.startsWith("Accept"));
    expect(entry!.title).toBe("Accept acl/sentinel-control-user in quorumlint.yaml, with a reason");
    c.apply(entry!);
    await c.untilRules(ACL);
    await c.untilRules(CONTRACT);
    expect(c.text(CONTRACT)).toMatch(
      /\nsuppress:\n {2}- \{ rule: acl\/sentinel-control-user, file: infra\/redis-lab\/config\/redis-users\.acl\.tmpl, reason: "accepted /,
    );
  });

  it("leads the cursor to the reason where the client takes snippets, and sends plain edits where it knows no versions", async () => {
    for (const edits of [{ documentChanges: true, snippetEditSupport: true }, {}]) {
      const c = await start(goldenCopy(), { edits });
      for (const file of [SENTINEL, CONF]) c.open(file);
      await c.untilRules(SENTINEL);
      c.type(SENTINEL, "minAvailable: 2", "minAvailable: 3 # ${A} }");
      const [budget] = await c.untilRules(SENTINEL, "k8s/disruption-budget");
      const [accept] = (await c.actions(SENTINEL, budget!.range)).filter((a) => a.title.startsWith("Accept"));
      if ("documentChanges" in edits) {
        const [change] = accept!.edit!.documentChanges as unknown as { edits: { snippet: { value: string } }[] }[];
        expect(change!.edits[0]!.snippet.value).toMatch(
          /^ {2}# quorumlint: ignore\[k8s\/disruption-budget\] accepted \d{4}-\d\d-\d\d: \$\{1:say why\}\n$/,
        );
      } else {
        expect(accept!.edit!.documentChanges).toBeUndefined();
        expect(Object.keys(accept!.edit!.changes!)).toEqual([c.uri(SENTINEL)]);
        c.apply(accept!);
        await c.untilRules(SENTINEL);
      }
      // a fix has nothing to fill in
      c.type(CONF, "appendfsync everysec", "appendfsync everysec # log");
      const [shown] = await c.until(CONF, (all) => all.some((d) => d.code === "redis/directive"));
      const fix = (await c.actions(CONF, shown!.range)).find((a) => a.isPreferred === true)!;
      c.apply(fix);
      await c.untilRules(CONF);
      expect(await c.stop()).toBe(0);
    }
  });

  it("a second entry joins the first", async () => {
    const c = await start();
    for (const file of [ACL, CONTRACT]) c.open(file);
    await c.untilRules(ACL);
    for (const change of ["+config|rewrite ", "+psync "]) {
      c.type(ACL, change, "");
      const [shown] = await c.until(ACL, (all) => all.length === 1);
      const action = (await c.actions(ACL, shown!.range)).find((a) => a.title.startsWith("Accept"))!;
      c.apply(action);
      await c.untilRules(ACL);
    }
    expect(c.text(CONTRACT).match(/^suppress:$/gm)).toHaveLength(1);
    expect(c.text(CONTRACT).match(/^ {2}- \{ rule: acl\//gm)).toHaveLength(2);
  });
});

describe("links", () => {
  it("of the contract file: files, workloads, ConfigMaps", async () => {
    const c = await start();
    c.open(CONTRACT);
    const links = await c.links(CONTRACT);
    const target = (text: string): string | undefined => links.find((l) => c.slice(CONTRACT, l.range) === text)?.target;
    expect(target(CONF)).toBe(c.uri(CONF));
    expect(target("StatefulSet/redis-data")).toMatch(/redis-data\.yaml#L\d+,\d+$/);
    expect(target("src/gradle/redis-test-images.properties")).toBe(c.uri("src/gradle/redis-test-images.properties"));
    expect(target("Secret/redis-data-tls")).toBeUndefined();
  });

  it("of manifests and configurations: ConfigMaps, provided Secrets, ServiceAccounts, the governing Service, the ACL file", async () => {
    const c = await start();
    c.open(DATA);
    c.open(CONF);
    const links = await c.links(DATA);
    const target = (text: string): string | undefined => links.find((l) => c.slice(DATA, l.range) === text)?.target;
    const line = (uri: string | undefined): string => {
      const [, file, number] = /^(.*)#L(\d+),\d+$/.exec(uri!)!;
      return readFileSync(new URL(file!), "utf8").split("\n")[Number(number) - 1]!;
    };
    expect(line(target("redis-data-scripts"))).toBe("  name: redis-data-scripts");
    expect(line(target("redis-data-acl"))).toBe("        - Secret/redis-data-acl");
    expect(target("redis-data")).toBeDefined();
    const conf = await c.links(CONF);
    expect(conf.map((l) => [c.slice(CONF, l.range), l.target])).toEqual([["/acl/users.acl", c.uri(ACL)]]);
  });
});

describe("completion", () => {
  it("keys and values of the contract file, also while it is broken", async () => {
    const c = await start();
    c.open(CONTRACT);
    const labels = async (before: string, typed: string): Promise<string[]> => {
      const text = c.text(CONTRACT);
      const at = text.indexOf(before) + before.length;
      c.type(CONTRACT, text, text.slice(0, at) + typed + text.slice(at));
      const items = await c.request<{ label: string }[]>("textDocument/completion", {
        textDocument: { uri: c.uri(CONTRACT) },
        position: c.at(CONTRACT, at + typed.length),
      });
      c.type(CONTRACT, c.text(CONTRACT), text);
      return items.map((i) => i.label);
    };
    expect(await labels("version: 1\n", "")).toEqual(
      expect.arrayContaining(["contracts", "rules", "ignore", "suppress"]),
    );
    expect(await labels("preset: redis-sentinel\n", "    ")).toEqual(
      expect.arrayContaining(["kubernetes", "planes", "roles", "network"]),
    );
    expect(await labels("      data:\n", "        ")).toEqual(
      expect.arrayContaining(["workload", "config", "acl", "container"]),
    );
    expect(await labels("      data:\n        workload: StatefulSet/redis-data\n        config: ", "")).toContain(CONF);
    expect(await labels("      sentinel:\n        workload: ", "")).toContain("StatefulSet/redis-sentinel");
    expect(await labels("      edges:\n", "        - { from: data, ")).toEqual(
      expect.arrayContaining(["from", "to", "port", "protocol"]),
    );
    expect(await labels("      edges:\n", "        - from: data\n          ")).toEqual(
      expect.arrayContaining(["to", "port"]),
    );
    expect(
      await labels(
        "      peer: sentinel-peer\n      discovery: [discovery]\n      probe: probe\n    policy:\n      peer: ",
        "",
      ),
    ).toEqual(expect.arrayContaining(["minimal", "superuser"]));
    expect(await labels("      rotation: ", "")).toEqual(expect.arrayContaining(["none", "live"]));
    expect(await labels("version: 1\n", "rules:\n  ")).toEqual(expect.arrayContaining(["k8s/exec-probe", "acl/*"]));
    expect(await labels("version: 1\n", "rules:\n  k8s/exec-probe: ")).toEqual(
      expect.arrayContaining(["off", "warning"]),
    );
    expect(await labels("version: 1\n", "suppress:\n  - rule: ")).toContain("acl/default-user");
    expect(await labels("version: 1\n", "suppress:\n  - { rule: acl/default-user, ")).toEqual(
      expect.arrayContaining(["reason", "file", "until"]),
    );
    expect(await labels("version: 1\n", "# rules: ")).toEqual([]);
  });

  it("every key that is offered is one that the file takes", async () => {
    const c = await start();
    c.open(CONTRACT);
    const items = await c.complete(CONTRACT, "preset: redis-sentinel\n    ");
    expect(items.length).toBeGreaterThan(10);
    for (const item of items) expect((item.textEdit as { newText: string }).newText).toMatch(/^\w+: $/);
  });

  it("rule ids in a suppression comment of any file", async () => {
    const c = await start();
    c.open(SENTINEL);
    c.type(SENTINEL, "  minAvailable: 2", "  # quorumlint: ignore[k8s/\n  minAvailable: 2");
    const items = await c.complete(SENTINEL, "ignore[k8s/");
    expect(items.map((i) => i.label)).toContain("k8s/disruption-budget");
    expect(items[0]!.documentation).toBeTruthy();
    expect(await c.complete(SENTINEL, "kind: StatefulSet")).toEqual([]);
  });
});

describe("the process", () => {
  it("ends with the client, and never writes anything but the protocol", async () => {
    const c = await start();
    c.open(SENTINEL);
    await c.untilRules(SENTINEL);
    c.child.stdin!.end();
    expect(await c.ended).toBe(1);
    expect(c.logged).toEqual([]);
  });

  it("an unknown request is refused, an unknown scheme is none of ours", async () => {
    const c = await start();
    await expect(c.request("quorumlint/none", {})).rejects.toMatchObject({ code: -32601 });
    const params = { textDocument: { uri: "untitled:one" }, position: { line: 0, character: 0 } };
    expect(await c.request("textDocument/hover", params)).toBeNull();
    expect(await c.stop()).toBe(0);
  });
});
