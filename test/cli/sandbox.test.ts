/**
 * "Never runs what it reads, opens no connection, reads only below the root": every command over a hostile tree, in a node
 * whose own permission model refuses processes and files outside, with a preload that traps what opens connections.
 */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../support.js";
import { edit, goldenCopy, removeTemporary, temporary } from "./run.js";

const TRAP = join(import.meta.dirname, "trap.cjs");
const SECRET = "outside-only";

/** What a run may read: the product and the tree; what it may write: nothing. */
function flags(folder: string): string[] {
  const product = ["bin", "dist", "node_modules", "package.json", "test/cli/trap.cjs"].map((p) => join(root, p));
  return [
    process.allowedNodeEnvironmentFlags.has("--permission") ? "--permission" : "--experimental-permission",
    "--disable-warning=ExperimentalWarning",
    ...[...product, folder].map((path) => `--allow-fs-read=${path}`),
    "--require",
    TRAP,
  ];
}

let home = "";
let folder = "";

/** A deployment in which everything that a careless tool runs, fetches or loads is a trap. */
beforeAll(() => {
  home = temporary();
  folder = join(home, "tree");
  const copy = goldenCopy();
  cpSync(copy, folder, { recursive: true });
  const pwned = join(home, "pwned");
  const script = `#!/bin/sh\ntouch ${pwned}\n`;
  const add = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
    chmodSync(join(folder, file), 0o755);
  };
  for (const name of ["helm", "kubectl", "kustomize", "git", "redis-server", "sh", "node"]) add(`bin/${name}`, script);
  for (const name of ["post-index-change", "pre-commit", "fsmonitor-watchman"]) add(`.git/hooks/${name}`, script);
  add(".git/config", `[core]\n\tfsmonitor = ${script}\n\thooksPath = hooks\n`);
  const code = `require("node:fs").writeFileSync(${JSON.stringify(pwned)}, ""); fetch("http://127.0.0.1:9/");\n`;
  for (const name of ["quorumlint.config.js", "index.js", ".pnp.cjs", "tsconfig.js"]) add(name, code);
  add("package.json", JSON.stringify({ main: "index.js", scripts: { prepare: `touch ${pwned}` }, type: "commonjs" }));
  for (const name of ["commander", "yaml", "chalk", "typescript", "ts-morph", "web-tree-sitter"])
    add(`node_modules/${name}/index.js`, code);
  add(
    "chart/Chart.yaml",
    "apiVersion: v2\nname: x\nversion: 1.0.0\ndependencies:\n  - { name: y, repository: http://127.0.0.1:9 }\n",
  );
  add("chart/templates/x.yaml", '{{ .Files.Get "/etc/passwd" }}\n');
  add(
    "kustomization.yaml",
    "resources: [http://127.0.0.1:9/x.yaml]\nhelmCharts: [{ name: x, repo: http://127.0.0.1:9 }]\n",
  );
  add("clean/redis.conf", "port 6379\nbind 127.0.0.1\n");
  add("more/run.lua", `os.execute("touch ${pwned}"); return redis.call("GET", KEYS[1])\n`);
  add("more/start.sh", `${script}exec redis-server /etc/redis.conf\n`);
  add("more/redis.conf", `include /etc/hosts\nloadmodule ${join(folder, "bin/helm")}\nincludes\n`);
  add("more/sentinel.conf", `sentinel notification-script x ${join(folder, "bin/helm")}\n`);
  add("more/x.yaml", "a: !!js/function 'function () { fetch(1) }'\nb: !include /etc/passwd\n");
  // findings, so that everything that shows one is shown
  edit(folder, "infra/redis-lab/k3s/redis-sentinel.yaml", "minAvailable: 2", "minAvailable: 3");
  const outside = join(temporary(), "outside.yaml");
  writeFileSync(outside, SECRET);
  symlinkSync(outside, join(folder, "more/outside.yaml"));
});

afterAll(removeTemporary);

function sandboxed(args: readonly string[]) {
  const run = spawnSync(process.execPath, [...flags(folder), join(root, "bin/quorumlint.js"), ...args], {
    cwd: folder,
    encoding: "utf8",
    timeout: 120_000,
    env: {
      ...process.env,
      PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
      NODE_PATH: join(folder, "node_modules"),
    },
  });
  return { code: run.status, output: run.stdout + run.stderr };
}

const ACL = "infra/redis-lab/config/redis-users.acl.tmpl";
const formats = ["pretty", "json", "sarif", "github", "gitlab", "junit", "markdown"].flatMap((f) => ["--format", f]);
const graph = ["graph", ".", "--format"];

describe("nothing is run, asked or read outside", () => {
  it("the sandbox is one: what it forbids is refused and told", () => {
    const attempt = (code: string): string => {
      const run = spawnSync(process.execPath, [...flags(folder), "-e", code], {
        encoding: "utf8",
      });
      return run.stderr;
    };
    expect(attempt(`require("fs").readFileSync("/etc/hosts")`)).toContain("ERR_ACCESS_DENIED");
    expect(attempt(`require("child_process").spawnSync("true")`)).toMatch(/trapped: child_process.spawnSync/);
    for (const code of [
      `fetch("http://127.0.0.1:9/")`,
      `require("net").connect(9)`,
      `require("dns").lookup("a", () => {})`,
    ])
      expect(attempt(code)).toContain("trapped");
  });

  it.each([
    ["check", 1, ["check", ".", "--strict-discovery", ...formats]],
    ["check without a contract file", 1, ["check", "more"]],
    ["check --fix-dry-run", 1, ["check", ".", "--fix-dry-run"]],
    ["graph text", 0, [...graph, "text"]],
    ["graph svg", 0, [...graph, "svg"]],
    ["graph of any manifests", 0, ["graph", "more"]],
    ["report", 0, ["report", "."]],
    ["init", 0, ["init", "more", "--stdout"]],
    ["acl show", 0, ["acl", "show", ACL]],
    ["acl can", 1, ["acl", "can", ACL, "--user", "app", "--", "FLUSHALL"]],
    ["acl suggest", 0, ["acl", "suggest", "."]],
    ["prove", 1, ["prove", "more"]],
    ["prove --sweep", 1, ["prove", "clean", "--sweep", "--threads", "1"]],
    ["rules", 0, ["rules"]],
    ["explain", 0, ["explain", "k8s/exec-probe"]],
  ] as const)("%s", { timeout: 120_000 }, (_, code, args) => {
    const run = sandboxed(args);
    expect(run.output).not.toMatch(/trapped|ERR_ACCESS_DENIED|this is a bug/);
    expect(run.code, run.output.slice(0, 2000)).toBe(code);
    expect(run.output).not.toContain(SECRET);
    expect(readdirSync(home).sort()).toEqual(["tree"]);
  });

  it("the language server", { timeout: 60_000 }, async () => {
    const child = spawn(process.execPath, [...flags(folder), join(root, "bin/quorumlint.js"), "lsp"], {
      cwd: folder,
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
    const send = (message: object): void => {
      const body = JSON.stringify({ jsonrpc: "2.0", ...message });
      child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    };
    const rootUri = pathToFileURL(folder).href;
    const uri = `${rootUri}/${ACL}`;
    send({ id: 1, method: "initialize", params: { processId: null, rootUri, capabilities: {} } });
    send({ method: "initialized", params: {} });
    const text = readFileSync(join(folder, ACL), "utf8");
    send({ method: "textDocument/didOpen", params: { textDocument: { uri, languageId: "acl", version: 1, text } } });
    send({
      id: 2,
      method: "textDocument/hover",
      params: { textDocument: { uri }, position: { line: 1, character: 30 } },
    });
    for (let i = 0; i < 300 && !output.includes('"id":2'); i++)
      await new Promise((resolve) => setTimeout(resolve, 100));
    expect(output).toContain("k8s/disruption-budget");
    expect(output).toContain('"id":2');
    const ended = new Promise((resolve) => child.once("exit", resolve));
    send({ id: 3, method: "shutdown" });
    send({ method: "exit" });
    await ended;
    expect(output).not.toMatch(/trapped|ERR_ACCESS_DENIED|outside-only/);
  });
});
