/** `quorumlint rules` and `quorumlint explain RULE`. */
import { rules } from "../../rules/index.js";
import { messageSpec, type Rule } from "../engine/rule.js";
import { didYouMean } from "../text/similar.js";
import { ruleUrl } from "./links.js";
import { colorOption, palette, print } from "./output.js";
import { UsageError } from "./usage.js";

export async function rulesCommand(options: { format: string }): Promise<number> {
  if (options.format === "json") {
    const list = rules.map((r) => ({
      id: r.id,
      severity: r.severity,
      inferred: r.inferred ?? (r.severity === "error" ? "warning" : r.severity),
      summary: r.docs.summary,
      why: r.docs.why,
      fix: r.docs.fix,
      fixable: r.fixable === true,
      messages: Object.fromEntries(Object.keys(r.messages).map((id) => [id, messageSpec(r, id).text])),
      rows: r.docs.rows,
      source: r.docs.source,
      url: ruleUrl(r.id),
    }));
    await print(`${JSON.stringify({ version: 1, rules: list }, null, 2)}\n`);
  } else if (options.format === "markdown") {
    await print(
      [
        "| rule | severity | promise |",
        "|---|---|---|",
        ...rules.map((r) => `| ${r.id} | ${r.severity} | ${r.docs.summary.replaceAll("|", "\\|")} |`),
      ].join("\n"),
    );
  } else {
    const width = Math.max(...rules.map((r) => r.id.length));
    await print(rules.map((r) => `${r.id.padEnd(width)}  ${r.severity.padEnd(7)}  ${r.docs.summary}`).join("\n"));
  }
  return 0;
}

export async function explainCommand(id: string, options: { color?: boolean }): Promise<number> {
  const rule: Rule | undefined = rules.find((r) => r.id === id);
  if (rule === undefined)
    throw new UsageError(
      `there is no rule "${id}"${didYouMean(
        id,
        rules.map((r) => r.id),
      )}`,
    );
  const c = await palette(colorOption(options));
  const indent = (text: string): string =>
    text
      .replace(/\n$/, "")
      .split("\n")
      .map((line) => `    ${line}`)
      .join("\n");
  await print(
    [
      `${c.bold(rule.id)}  ${c.dim(`(${rule.severity}; without a contract file ${rule.inferred ?? (rule.severity === "error" ? "warning" : rule.severity)})`)}`,
      "",
      rule.docs.summary,
      "",
      c.bold("Why"),
      `    ${rule.docs.why}`,
      "",
      c.red("Wrong"),
      indent(rule.docs.bad),
      "",
      c.green("Right"),
      indent(rule.docs.good),
      "",
      c.bold("What to do"),
      `    ${rule.docs.fix}`,
      "",
      `Source: ${rule.docs.source.title}, ${rule.docs.source.url}`,
      ...(rule.docs.rows.length > 0 ? [`Rows: ${rule.docs.rows.join(", ")}`] : []),
    ].join("\n"),
  );
  return 0;
}
