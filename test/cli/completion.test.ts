/** Completion scripts in the shells that they are for, and the man page in the program that shows it. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { flatten, shapeOf } from "../../src/cli/command-tree.js";
import { commandTree } from "../../src/cli/commands.js";
import { hasTool, root } from "../support.js";
import { quorumlint, removeTemporary, temporary } from "./run.js";

afterAll(removeTemporary);

function script(shell: string): string {
  const run = quorumlint(["completion", shell]);
  expect(run.code, run.stderr).toBe(0);
  return run.stdout;
}

function workplace(): string {
  const folder = temporary();
  mkdirSync(join(folder, "infra dir"));
  writeFileSync(join(folder, "infra.acl"), "");
  return folder;
}

function shell(command: string, args: readonly string[], cwd: string): string {
  const run = spawnSync(command, args, { cwd, encoding: "utf8", timeout: 30_000 });
  expect(run.stderr).toBe("");
  expect(run.status).toBe(0);
  return run.stdout;
}

describe("bash", () => {
  const folder = workplace();
  writeFileSync(join(folder, "quorumlint.bash"), script("bash"));

  /** What bash offers at the end of a line, by the function that `complete` was given. */
  function offered(line: string): string[] {
    const words = line.split(/\s+|(=)/).filter((w) => w !== undefined && (w !== "" || line.endsWith(" ")));
    const program = `source ./quorumlint.bash
complete -p quorumlint > /dev/null || exit 9
COMP_WORDS=(${words.map((w) => `'${w}'`).join(" ")})
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_quorumlint quorumlint 2> /dev/null
printf '%s\\n' "\${COMPREPLY[@]}"`;
    return shell("bash", ["--norc", "--noprofile", "-c", program], folder).split("\n").filter(Boolean).sort();
  }

  it("commands, sub-commands, options", () => {
    expect(offered("quorumlint ch")).toEqual(["check"]);
    expect(offered("quorumlint acl s")).toEqual(["show", "suggest"]);
    expect(offered("quorumlint --fix")).toEqual(["--fix", "--fix-dry-run"]);
    expect(offered("quorumlint prove --sw")).toEqual(["--sweep"]);
    expect(offered("quorumlint completion ")).toEqual(["bash", "fish", "zsh"]);
  });

  it("values of options, rule ids, files", () => {
    expect(offered("quorumlint check --fail-on ")).toEqual(["error", "info", "never", "warning"]);
    expect(offered("quorumlint check --format=js")).toEqual(["json"]);
    expect(offered("quorumlint check --rule k8s/ex")).toEqual(["k8s/exec-probe"]);
    expect(offered("quorumlint check --skip acl/*")).toEqual(["acl/*"]);
    expect(offered("quorumlint explain yaml/")).toEqual(["yaml/duplicate-key", "yaml/syntax"]);
    expect(offered("quorumlint acl show infra.")).toEqual(["infra.acl"]);
    expect(offered("quorumlint check infra")).toEqual(["infra dir", "infra.acl"]);
    expect(offered("quorumlint graph --config infra.")).toEqual(["infra.acl"]);
  });

  it("a value is no command", () => {
    expect(offered("quorumlint --rule acl show")).toEqual([]);
    expect(offered("quorumlint check acl sh")).toEqual([]);
  });
});

describe("other shells", () => {
  it("zsh completes commands, options and values", () => {
    if (!hasTool("zsh")) return;
    const folder = workplace();
    writeFileSync(join(folder, "_quorumlint"), script("zsh"));
    // zsh runs the function; what it would hand to the line editor is printed
    const offered = (line: string): string[] =>
      shell(
        "zsh",
        [
          "-f",
          "-c",
          `compdef() { [[ $1 == _quorumlint && $2 == quorumlint ]] || exit 9 }
_describe() { print -rl -- "\${(@P)2}" }
_files() { print files }
compadd() { shift; print -rl -- "$@" }
source ./_quorumlint
words=(${line
            .split(" ")
            .map((w) => `'${w}'`)
            .join(" ")}); CURRENT=$#words
_quorumlint`,
        ],
        folder,
      )
        .split("\n")
        .filter(Boolean);
    expect(offered("quorumlint ")).toContain("check:lint the contracts found under PATH (default .)");
    expect(offered("quorumlint acl ")).toHaveLength(4);
    expect(offered("quorumlint check -")).toContain("--max-warnings:exit 1 with more warnings than this");
    expect(offered("quorumlint check --rule ")).toContain("k8s/exec-probe");
    expect(offered("quorumlint check ")).toEqual(["files"]);
    expect(offered("quorumlint graph --format ")).toEqual(["text", "json", "dot", "mermaid", "svg"]);
  });

  it("fish completes commands, options and values", () => {
    if (!hasTool("fish")) return;
    const folder = workplace();
    writeFileSync(join(folder, "quorumlint.fish"), script("fish"));
    const offered = (line: string): string[] =>
      shell("fish", ["--no-config", "-c", `source quorumlint.fish; complete -C '${line}'`], folder)
        .split("\n")
        .map((l) => l.split("\t")[0]!)
        .filter(Boolean);
    expect(offered("quorumlint ch")).toEqual(["check"]);
    expect(offered("quorumlint check --fail-on e")).toEqual(["error"]);
    expect(offered("quorumlint explain k8s/exec")).toEqual(["k8s/exec-probe"]);
    expect(offered("quorumlint --max")).toEqual(["--max-warnings"]);
  });

  it("an unknown shell is your mistake", () => expect(quorumlint(["completion", "tcsh"]).code).toBe(2));
});

describe("man page", () => {
  const page = readFileSync(join(root, "man/quorumlint.1"), "utf8");

  it("names every command and every option of the command tree", () => {
    const commands = flatten(shapeOf(commandTree(() => async () => {})));
    expect(commands.length).toBeGreaterThan(8);
    for (const command of commands) {
      const name = ["quorumlint", ...command.path].join(" ");
      expect(page).toContain(name);
      for (const option of command.options)
        for (const flag of option.flags) expect(page, `${name} ${flag}`).toContain(flag.replaceAll("-", "\\-"));
    }
  });

  it("is what man shows without a complaint", () => {
    if (!hasTool("man")) return;
    const run = spawnSync("man", ["--warnings=w", "-E", "UTF-8", "-l", join(root, "man/quorumlint.1")], {
      encoding: "utf8",
      env: { ...process.env, MANWIDTH: "100", MANPAGER: "cat", LC_ALL: "C.UTF-8" },
    });
    expect(run.stderr).toBe("");
    expect(run.stdout).toMatch(/--fail-on <severity>/);
    expect(run.stdout).toMatch(/EXIT STATUS/);
  });
});
