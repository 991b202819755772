/** `--fix` and `--fix-dry-run` on a disk: every other byte stays, it converges, what cannot be repaired is said. */
import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { edit, goldenCopy, quorumlint, removeTemporary, temporary } from "./run.js";

afterEach(removeTemporary);

const DATA = "infra/redis-lab/k3s/redis-data.yaml";
const WRONG = `@sha256:${"0".repeat(64)}`;

/** A golden copy with one wrong digest; the digest that is right. */
function broken(): { folder: string; right: string } {
  const folder = goldenCopy();
  const right = /@sha256:[0-9a-f]{64}/.exec(readFileSync(join(folder, DATA), "utf8"))![0];
  edit(folder, DATA, right, WRONG);
  return { folder, right };
}

/** Every file of a tree, as Latin-1 so that no byte is lost. */
function bytes(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((e) => e.isFile());
  return Object.fromEntries(
    files.map((e) => [
      join(e.parentPath, e.name).slice(folder.length + 1),
      readFileSync(join(e.parentPath, e.name), "latin1"),
    ]),
  );
}

describe("--fix", () => {
  it("repairs, checks clean, and leaves every other byte: comments, CR LF, a byte order mark, odd blanks", () => {
    const { folder, right } = broken();
    const file = join(folder, DATA);
    const odd = `\ufeff# kept  \t\r\n${readFileSync(file, "utf8").replace(/\n/g, "\r\n")}\r\n# no line end\u00a0é`;
    writeFileSync(file, odd);
    const before = bytes(folder);
    const run = quorumlint(["check", "--fix"], { cwd: folder });
    expect(run).toMatchObject({ code: 0, stderr: "quorumlint: repaired 1 finding in 1 file\n" });
    const expected = { ...before, [DATA]: Buffer.from(odd.replace(WRONG, right)).toString("latin1") };
    expect(bytes(folder)).toEqual(expected);
    // and again: nothing is left to do
    expect(quorumlint(["check", "--fix"], { cwd: folder })).toMatchObject({ code: 0, stderr: "" });
    expect(bytes(folder)).toEqual(expected);
  });

  it("leaves a file alone that is not valid UTF-8, and says so", () => {
    const { folder } = broken();
    // the digest is found in the properties; the manifest with a byte of another encoding could not be written back
    const images = join(folder, "src/gradle/redis-test-images.properties");
    const file = join(folder, DATA);
    writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.from([0x23, 0xe9, 0x0a])]));
    const before = bytes(folder);
    const run = quorumlint(["check", "--fix"], { cwd: folder });
    expect(run.code).toBe(1);
    expect(bytes(folder)).toEqual(before);
    expect(run.stdout).toContain("the file is not valid UTF-8");
    expect(readFileSync(images, "utf8")).toContain("sha256:");
  });

  it("a file that cannot be written is one sentence and exit 2", () => {
    if (process.getuid?.() === 0) {
      // root may write anywhere: a directory in the way of an output refuses it all the same
      const run = quorumlint(["check", goldenCopy(), "--format", `json=${temporary()}`]);
      expect(run.code).toBe(2);
      expect(run.stderr).toMatch(/^quorumlint: .*: it is a directory\n$/);
      return;
    }
    const { folder } = broken();
    chmodSync(join(folder, DATA), 0o444);
    const run = quorumlint(["check", "--fix"], { cwd: folder });
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(/^quorumlint: .*redis-data\.yaml: permission denied\n$/);
  });

  it("works on files, not on standard input", () => {
    const run = quorumlint(["check", "-", "--fix"], { input: "kind: Pod\n" });
    expect(run.code).toBe(2);
    expect(run.stderr).toContain("--fix needs files");
  });
});

describe("--fix-dry-run", () => {
  it("prints a diff that patch applies, and writes nothing", () => {
    const { folder, right } = broken();
    const before = bytes(folder);
    const run = quorumlint(["check", "--fix-dry-run"], { cwd: folder });
    expect(run.code).toBe(1);
    expect(run.stderr).toBe("quorumlint: --fix would repair 1 finding in 1 file\n");
    expect(bytes(folder)).toEqual(before);
    const patched = spawnSync("git", ["apply", "-"], { cwd: folder, input: run.stdout, encoding: "utf8" });
    expect(patched.stderr).toBe("");
    expect(readFileSync(join(folder, DATA), "utf8")).toContain(right);
    expect(quorumlint(["check", "--fix-dry-run"], { cwd: folder })).toEqual({
      code: 0,
      stdout: "",
      stderr: "quorumlint: nothing to repair\n",
    });
  });

  it("still writes the formats that are asked for", () => {
    const { folder } = broken();
    const out = join(temporary(), "r.json");
    const run = quorumlint(["check", "--fix-dry-run", "--format", `json=${out}`], { cwd: folder });
    expect(run.stdout).toMatch(/^--- a\//);
    expect(JSON.parse(readFileSync(out, "utf8")).summary.errors).toBe(1);
  });
});
