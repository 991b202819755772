/** `check --watch` as a process: what changes is seen, also new files, new directories and the contract file; Ctrl-C ends it. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { root } from "../support.js";
import { edit, goldenCopy, quorumlint, removeTemporary, temporary } from "./run.js";

afterAll(removeTemporary);

class Watch {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  #out = "";
  #seen = 0;

  constructor(args: readonly string[], cwd = root) {
    this.child = spawn(process.execPath, [join(root, "bin/quorumlint.js"), "check", "--watch", ...args], {
      cwd,
      env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" },
    });
    const take = (data: Buffer): void => {
      this.#out += data.toString("utf8");
    };
    this.child.stdout!.on("data", take);
    this.child.stderr!.on("data", take);
    this.ended = new Promise((resolve) => this.child.once("exit", (code) => resolve(code)));
  }

  /** Waits for a text in what was printed since the last wait; gives what was printed up to its end. */
  async until(text: string): Promise<string> {
    for (let waited = 0; waited < 20_000; waited += 20) {
      const at = this.#out.indexOf(text, this.#seen);
      if (at >= 0) {
        const out = this.#out.slice(this.#seen, at + text.length);
        this.#seen = at + text.length;
        return out;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`"${text}" did not come; since the last wait came: ${this.#out.slice(this.#seen)}`);
  }

  get rest(): string {
    return this.#out.slice(this.#seen);
  }
}

let running: Watch | undefined;
afterEach(() => {
  running?.child.kill("SIGKILL");
  running = undefined;
});

describe("check --watch", () => {
  it("sees changes, new files and directories, the contract file, and ends cleanly", { timeout: 90_000 }, async () => {
    const folder = goldenCopy();
    running = new Watch([folder]);
    await running.until("Ctrl-C ends it");
    await running.until("no findings");

    const acl = "infra/redis-lab/config/redis-users.acl.tmpl";
    edit(folder, acl, "+config|rewrite ", "");
    expect(await running.until("1 error in 1 file")).toContain("acl/sentinel-control-user");
    edit(folder, acl, "+role ", "+config|rewrite +role ");
    await running.until("no findings");

    // a new file in a new directory is read once the contract names it, and seen when it changes after that
    edit(folder, "quorumlint.yaml", "manifests: [infra/redis-lab/k3s/*.yaml]", 'manifests: ["infra/redis-lab/k3s/**"]');
    await running.until("no findings");
    mkdirSync(join(folder, "infra/redis-lab/k3s/more"));
    const extra = join(folder, "infra/redis-lab/k3s/more/extra.yaml");
    writeFileSync(
      extra,
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: extra\n  namespace: redis-lab\ndata: {}\n",
    );
    expect(await running.until("1 error in 1 file")).toContain("k8s/inventory");
    writeFileSync(extra, "# empty\n");
    await running.until("the manifest is empty");
    rmSync(extra);
    await running.until("no findings");

    // a contract file that is broken is said, and its repair is seen
    const contract = readFileSync(join(folder, "quorumlint.yaml"), "utf8");
    writeFileSync(join(folder, "quorumlint.yaml"), contract.replace("planes:", "plains:"));
    expect(await running.until('did you mean "planes"?')).toContain("quorumlint.yaml:");
    writeFileSync(join(folder, "quorumlint.yaml"), contract);
    await running.until("no findings");

    running.child.kill("SIGINT");
    expect(await running.ended).toBe(0);
  });

  it("prints nothing for a file that is no part of the contract, nor for what it writes itself", async () => {
    const folder = goldenCopy();
    running = new Watch([".", "--format", "pretty", "--format", "json=report.json"], folder);
    await running.until("contract checked\n");
    writeFileSync(join(folder, "notes.txt"), "nothing\n");
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(running.rest.trim()).toBe("");
    expect(JSON.parse(readFileSync(join(folder, "report.json"), "utf8")).diagnostics).toEqual([]);
    running.child.kill("SIGTERM");
    expect(await running.ended).toBe(0);
  });

  it("an inferred directory: a file that comes along later is part of it", async () => {
    const folder = temporary();
    running = new Watch([folder, "--fail-on", "never"]);
    await running.until("nothing to check");
    writeFileSync(join(folder, "users.acl"), "user default on nopass ~* &* +@all\n");
    await running.until("acl/default-user");
    running.child.kill("SIGINT");
    expect(await running.ended).toBe(0);
  });

  it("goes with neither standard input nor what writes", () => {
    for (const args of [["-"], ["--fix", "."], ["/no/such/path"]])
      expect(quorumlint(["check", "--watch", ...args], { input: "" }).code, args.join(" ")).toBe(2);
  });
});
