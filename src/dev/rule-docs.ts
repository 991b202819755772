/** One page per rule: what it promises, and each of its mutants as a diff with the real finding under it. */
import { join } from "node:path";
import { fixtures } from "../../fixtures/index.js";
import { rules } from "../../rules/index.js";
import { prepareParsers } from "../cli/parsers.js";
import { readTree } from "../cli/tree.js";
import { check } from "../contract/check.js";
import { memoryHost } from "../contract/memory.js";
import { messageSpec, type Rule } from "../engine/rule.js";
import { applyFileEdits, EditError, editsOf } from "../mutation/fixture.js";
import { type ProofResult, prove, type Tree } from "../mutation/prove.js";
import { unifiedDiff } from "../text/diff.js";

/** A fixed day, so that the pages do not change by themselves. */
const TODAY = "2026-11-29";

export async function ruleDocuments(root: string): Promise<Map<string, string>> {
  const bases = new Map<string, Tree>();
  const base = (name: string): Tree => {
    let tree = bases.get(name);
    if (tree === undefined) bases.set(name, (tree = readTree(join(root, "fixtures", name))));
    return tree;
  };
  const proof = await prove({
    rules,
    fixtures,
    base,
    lint: async (tree, today) => {
      const run = await check(memoryHost(tree), ["/tree"], {
        rules,
        today: today ?? TODAY,
        version: "0",
        prepare: prepareParsers,
      });
      return { diagnostics: run.result.diagnostics, faults: run.faults, crashes: run.result.crashes };
    },
  });
  const out = new Map<string, string>();
  const index = ["# Rules", "", "| rule | severity | promise |", "|---|---|---|"];
  for (const rule of rules) {
    out.set(`docs/rules/${rule.id}.md`, page(rule, proof.results, base));
    index.push(`| [${rule.id}](${rule.id}.md) | ${rule.severity} | ${rule.docs.summary.replaceAll("|", "\\|")} |`);
  }
  out.set("docs/rules/README.md", `${index.join("\n")}\n`);
  return out;
}

function page(rule: Rule, results: readonly ProofResult[], base: (name: string) => Tree): string {
  const { docs } = rule;
  const lines = [
    `# ${rule.id}`,
    "",
    docs.summary,
    "",
    `Severity: **${rule.severity}** where a contract file declares the deployment, **${rule.inferred ?? (rule.severity === "error" ? "warning" : rule.severity)}** otherwise.${rule.fixable === true ? " Some findings can be repaired with `--fix`." : ""}`,
    "",
    "## Why",
    "",
    docs.why,
    "",
    "## Wrong",
    "",
    fence(docs.bad),
    "",
    "## Right",
    "",
    fence(docs.good),
    "",
    docs.fix,
    "",
    "## Messages",
    "",
    "| id | message | what would be right |",
    "|---|---|---|",
  ];
  for (const id of Object.keys(rule.messages)) {
    const spec = messageSpec(rule, id);
    lines.push(`| \`${id}\` | ${spec.text.replaceAll("|", "\\|")} | ${(spec.help ?? "").replaceAll("|", "\\|")} |`);
  }
  lines.push(
    "",
    `Source: [${docs.source.title}](${docs.source.url})${docs.rows.length > 0 ? ` · ${docs.rows.join(", ")}` : ""}`,
  );
  const fixture = fixtures.get(rule.id);
  if (fixture !== undefined) {
    lines.push("", "## Proof", "", "Each of these changes of a correct deployment is reported, at the place shown.");
    for (const c of fixture.killed) {
      const tree = base(c.base ?? "redis-lab");
      const edits = editsOf(c.edit);
      const result = results.find((r) => r.rule === rule.id && r.name === c.mutant && r.kind === "mutant");
      lines.push("", `### ${c.mutant}`, "", fence(diffOf(tree, edits), "diff"));
      const hit = result?.diagnostics.find((d) => d.rule === rule.id && d.messageId === c.by);
      if (hit !== undefined) {
        const { line, column } = hit.at.source.position(hit.at.start);
        lines.push(
          "",
          `> ${hit.severity} at ${hit.at.source.file}:${line}:${column}: ${hit.message.replaceAll("\n", " ")}`,
        );
      }
    }
    if (fixture.silent.length > 0) {
      lines.push("", "These changes are right, and silent:", "");
      for (const c of fixture.silent) lines.push(`- ${c.name}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

function diffOf(tree: Tree, edits: Parameters<typeof applyFileEdits>[1]): string {
  let changed: Tree;
  try {
    changed = applyFileEdits(tree, edits);
  } catch (error) {
    // the proof says so as well; a page must not hide the other pages
    if (error instanceof EditError) return error.message;
    throw error;
  }
  const decode = (bytes: Uint8Array | undefined): string =>
    bytes === undefined ? "" : new TextDecoder().decode(bytes);
  const names = [...new Set(edits.map((e) => e.file))];
  return (
    names
      .map((name) => unifiedDiff(decode(tree.get(name)), decode(changed.get(name)), { from: name, to: name }))
      .join("\n")
      .split("\n")
      .slice(0, 60)
      .join("\n")
      // a page with a NUL is no text for git and most viewers
      .replaceAll("\0", "\u2400")
  );
}

function fence(text: string, language = ""): string {
  const ticks = text.includes("```") ? "~~~" : "```";
  return `${ticks}${language}\n${text.replace(/\n$/, "")}\n${ticks}`;
}
