/** What the documentation says is so: links lead somewhere, and every command runs. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type CommandShape, flatten, shapeOf } from "../../src/cli/command-tree.js";
import { commandTree } from "../../src/cli/commands.js";
import { removeTemporary, temporary } from "../cli/run.js";
import { root } from "../support.js";

afterAll(removeTemporary);

const PAGES = [
  "README.md",
  "CHANGELOG.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((f) => f.endsWith(".md"))
    .map((f) => `docs/${f}`)
    .sort(),
];
const read = (page: string): string => readFileSync(join(root, page), "utf8");

/** The anchor that GitHub makes of a heading. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
}

function anchors(page: string): Set<string> {
  const text = read(page).replace(/^```[\s\S]*?^```/gm, "");
  return new Set([...text.matchAll(/^#{1,6} (.*)$/gm)].map((m) => anchorOf(m[1]!)));
}

/** Targets of Markdown links outside code. */
function links(page: string): string[] {
  const text = read(page)
    .replace(/^(`{3,})[\s\S]*?^\1/gm, "")
    .replace(/`[^`\n]*`/g, "");
  return [...text.matchAll(/\]\(([^()\s]+(?:\([^()\s]*\))?[^()\s]*)\)/g)].map((m) => m[1]!);
}

describe("links", () => {
  it("are found", () => {
    expect(PAGES.length).toBeGreaterThan(80);
    expect(links("README.md").length).toBeGreaterThan(5);
    expect(links("docs/README.md")).toContain("contract-file.md");
  });

  it("lead to a page, and to a heading of it", () => {
    const lost: string[] = [];
    for (const page of PAGES) {
      for (const link of links(page)) {
        if (/^[a-z][a-z0-9+.-]*:/i.test(link)) continue;
        const [path, hash] = link.split("#") as [string, string | undefined];
        const target = path === "" ? page : join(dirname(page), path);
        if (!existsSync(join(root, target))) lost.push(`${page}: ${link}`);
        else if (hash !== undefined && target.endsWith(".md") && !anchors(target).has(hash))
          lost.push(`${page}: ${link}`);
      }
    }
    expect(lost).toEqual([]);
  });

  it("lead to every page from the first", () => {
    const seen = new Set<string>();
    const open = ["README.md"];
    for (let page = open.pop(); page !== undefined; page = open.pop()) {
      if (seen.has(page)) continue;
      seen.add(page);
      for (const link of links(page)) {
        const target = join(dirname(page), link.split("#")[0]!);
        if (PAGES.includes(target)) open.push(target);
      }
    }
    expect(PAGES.filter((p) => !seen.has(p))).toEqual([]);
  });

  it("of rules and messages lead to pages that exist", () => {
    const own = "https://github.com/quorumlint/quorumlint/blob/main/";
    for (const page of PAGES)
      for (const link of links(page).filter((l) => l.startsWith(own)))
        expect(existsSync(join(root, link.slice(own.length).split("#")[0]!)), `${page}: ${link}`).toBe(true);
  });
});

/** Lines of code blocks that call the program, without comments and prose behind them. */
function commands(page: string): { readonly line: string; readonly runs: boolean }[] {
  const out: { line: string; runs: boolean }[] = [];
  for (const block of read(page).matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)) {
    for (const text of block[2]!.split("\n")) {
      const found = /^(?:npx (?:--no-install )?)?quorumlint (?:[a-z].*)/.exec(text)?.[0];
      if (found === undefined) continue;
      const line = found.replace(/\s+#.*$/, "").replace(/\s{2,}.*$/, "");
      out.push({ line, runs: block[1] === "sh" });
    }
  }
  return out;
}

const shown = PAGES.filter((p) => !p.startsWith("docs/rules/")).flatMap((page) =>
  commands(page).map((c) => ({ page, ...c })),
);

describe("commands", () => {
  const all = flatten(shapeOf(commandTree(() => async () => {})));

  function commandOf(words: readonly string[]): CommandShape | undefined {
    return all
      .filter((c) => c.path.length > 0 && c.path.every((w, i) => words[i]?.split("|").includes(w) === true))
      .sort((a, b) => b.path.length - a.path.length)[0];
  }

  it("are found", () => expect(shown.length).toBeGreaterThan(25));

  it.each(shown)("$page: $line", ({ line }) => {
    const words = line
      .replace(/^npx (?:--no-install )?/, "")
      .split(" ")
      .slice(1);
    const command = commandOf(words);
    expect(command, line).toBeDefined();
    const flags = command!.options.flatMap((o) => o.flags);
    for (const word of words.filter((w) => w.startsWith("-") && w !== "-" && w !== "--"))
      expect(flags, line).toContain(word.split("=")[0]!);
  });

  it("name every command at least once", () => {
    const top = new Set(all.filter((c) => c.path.length === 1).map((c) => c.path[0]!));
    const named = new Set(shown.flatMap(({ line }) => line.replace(/^npx (?:--no-install )?/, "").split(" ")[1]!));
    const text = PAGES.map(read).join("\n");
    expect([...top].filter((c) => !named.has(c) && !text.includes(`quorumlint ${c}`))).toEqual([]);
  });

  describe("that are to be run, run", () => {
    const runs = shown.filter((c) => c.runs);
    /** Until Ctrl-C; and minutes of work that tests of their own do. */
    const elsewhere = (line: string): boolean => line.includes("--watch") || line.includes("--sweep");

    it("all but these", () => {
      expect(runs.filter((c) => elsewhere(c.line)).map((c) => c.line)).toEqual([
        "npx quorumlint check --watch",
        "npx quorumlint prove . --sweep",
        "npx quorumlint prove . --sweep --since main",
        "npx quorumlint prove . --sweep --format html=sweep.html",
      ]);
    });

    const pages = [...new Set(runs.map((c) => c.page))];
    it.each(pages)("%s", { timeout: 300_000 }, (page) => {
      // where a reader stands: their files, and for the proofs a checkout with fixtures
      const folder = temporary();
      for (const part of ["infra", "src"])
        cpSync(join(root, "fixtures/redis-lab", part), join(folder, part), { recursive: true });
      symlinkSync(join(root, "fixtures"), join(folder, "fixtures"));
      const bin = join(folder, "bin");
      mkdirSync(bin);
      writeFileSync(
        join(bin, "quorumlint"),
        `#!/bin/sh\nexec '${process.execPath}' '${join(root, "bin/quorumlint.js")}' "$@"\n`,
        { mode: 0o755 },
      );
      writeFileSync(join(bin, "npx"), '#!/bin/sh\n[ "$1" = --no-install ] && shift\nexec "$@"\n', { mode: 0o755 });
      for (const { line } of runs.filter((c) => c.page === page && !elsewhere(c.line))) {
        const made = spawnSync("sh", ["-c", line], {
          cwd: folder,
          encoding: "utf8",
          env: { ...process.env, PATH: `${bin}:${process.env["PATH"]}`, NO_COLOR: "1" },
        });
        expect(made.status, `${line}\n${made.stdout}${made.stderr}`).toBe(0);
      }
    });
  });
});
