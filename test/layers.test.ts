/** Imports point down only; a rule imports the rule shape and the model, nothing else. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./support.js";

/** From the bottom up; a layer may import its own and every layer before it. */
const LAYERS = ["text", "document", "model", "engine", "contract", "reporter", "mutation", "cli"];
/** Side by side at the top: no one imports them. */
const TOPS = ["lsp", "dev"];

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile() && e.name.endsWith(".ts") && !e.name.endsWith(".d.ts"))
    .map((e) => relative(root, join(e.parentPath, e.name)).replaceAll("\\", "/"));
}

function imports(file: string): { specifier: string; typeOnly: boolean }[] {
  const text = readFileSync(join(root, file), "utf8");
  return [
    ...text.matchAll(
      /^\s*(?:import|export)\s+(type\s+)?(?:[^'"]*?\sfrom\s+)?["']([^"']+)["']|import\(\s*["']([^"']+)["']\s*\)/gm,
    ),
  ].map((m) => ({
    specifier: (m[2] ?? m[3])!,
    typeOnly: m[1] !== undefined,
  }));
}

function target(file: string, specifier: string): string {
  return join(dirname(file), specifier).replaceAll("\\", "/");
}

const files = sources("src");

describe("layers", () => {
  it("sees the sources", () => expect(files.length).toBeGreaterThan(40));

  it("no import goes up", () => {
    const wrong: string[] = [];
    for (const file of files) {
      const layer = file.split("/")[1]!;
      const own = LAYERS.indexOf(layer);
      if (own < 0) continue;
      for (const { specifier } of imports(file)) {
        if (!specifier.startsWith(".")) continue;
        const to = target(file, specifier);
        // the command line is the door to the other surface
        if (file === "src/cli/commands.ts" && to === "src/lsp/server.js") continue;
        const other = to.startsWith("src/") ? to.split("/")[1]! : to.split("/")[0]!;
        if (other === "rules" || other === "fixtures") {
          if (layer !== "cli") wrong.push(`${file} imports ${to}: the registry is passed in`);
        } else if (TOPS.includes(other) || (LAYERS.includes(other) && LAYERS.indexOf(other) > own)) {
          wrong.push(`${file} (${layer}) imports ${to} (${other})`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it("below the surfaces nothing touches the machine", () => {
    const wrong: string[] = [];
    for (const file of [
      ...files.filter((f) => !/^src\/(cli|lsp|dev)\/|^src\/index\.ts$/.test(f)),
      ...sources("rules"),
    ]) {
      for (const { specifier } of imports(file))
        if (specifier.startsWith("node:")) wrong.push(`${file} imports ${specifier}`);
      const code = readFileSync(join(root, file), "utf8");
      for (const word of ["process.", "console."]) {
        if (
          new RegExp(`(?<![.\\w"'\`/])${word.replace(".", "\\.")}\\w`).test(
            code.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g, ""),
          )
        )
          wrong.push(`${file} uses ${word}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("a rule imports the rule shape and the model only", () => {
    const wrong: string[] = [];
    for (const file of sources("rules")) {
      if (file === "rules/index.ts") continue;
      for (const { specifier, typeOnly } of imports(file)) {
        const to = target(file, specifier);
        const allowed =
          to === "src/engine/rule.js" ||
          to.startsWith("src/model/") ||
          (typeOnly && /^src\/(text|document|engine)\//.test(to)) ||
          /^rules\/[a-z0-9]+\/_/.test(to) ||
          to === "src/text/similar.js";
        if (!allowed) wrong.push(`${file} imports ${specifier}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
