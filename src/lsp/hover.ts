/** Hover: why a rule exists, on its finding and on its id; on words of an ACL what they grant. */
import type { Hover } from "vscode-languageserver";
import { aclFileLines, confUserLines } from "../document/redis-acl.js";
import type { Rule } from "../engine/rule.js";
import { type AclLoad, describeUser } from "../model/redis/acl.js";
import { meaningOf } from "../model/redis/acl-words.js";
import { commandTable } from "../model/redis/servers.js";
import type { Source, TextView } from "../text/source.js";
import { rangeOf } from "./places.js";
import type { Finding, Seen } from "./session.js";

/** More commands than this are counted. */
const SHOWN = 80;

export interface HoverQuestion {
  readonly source: Source;
  readonly offset: number;
  readonly findings: readonly Finding[];
  readonly seen: readonly Seen[];
  readonly rules: readonly Rule[];
  readonly urlOf: (rule: string) => string;
}

export function hoverAt(question: HoverQuestion): Hover | undefined {
  const { source, offset, findings, rules, urlOf } = question;
  const parts: string[] = [];
  let range: Hover["range"];
  for (const f of findings) {
    const { diagnostic } = f;
    if (diagnostic === undefined || offset < f.at.start || offset > f.at.end) continue;
    const rule = rules.find((r) => r.id === diagnostic.rule);
    if (rule === undefined) continue;
    range ??= rangeOf(f.at);
    parts.push(`**${diagnostic.message}**\n\n${aboutRule(rule, urlOf, diagnostic.help)}`);
  }
  const granted = aclWord(question);
  if (granted !== undefined) {
    parts.push(granted.text);
    range ??= granted.range;
  }
  if (parts.length === 0) {
    const id = ruleIdAt(source, offset);
    const rule = id === undefined ? undefined : rules.find((r) => r.id === id.text);
    if (rule !== undefined) {
      parts.push(`${rule.docs.summary}\n\n${aboutRule(rule, urlOf, rule.docs.fix)}`);
      range = rangeOf(source.span(id!.start, id!.start + id!.text.length));
    }
  }
  if (parts.length === 0) return undefined;
  const value = parts.join("\n\n---\n\n");
  return range === undefined
    ? { contents: { kind: "markdown", value } }
    : { contents: { kind: "markdown", value }, range };
}

function aboutRule(rule: Rule, urlOf: (rule: string) => string, help: string | undefined): string {
  const right = help === undefined ? "" : `\n\n*What would be right:* ${help}`;
  return `*Why:* ${rule.docs.why}${right}\n\n[${rule.id}](${urlOf(rule.id)}) · [${rule.docs.source.title}](${rule.docs.source.url})`;
}

/** `pack/rule` at a place where rules are named: the contract file, and suppression comments. */
function ruleIdAt(source: Source, offset: number): { text: string; start: number } | undefined {
  const start = source.text.lastIndexOf("\n", offset - 1) + 1;
  let end = source.text.indexOf("\n", offset);
  if (end < 0) end = source.text.length;
  if (end - start > 2000) return undefined;
  for (const m of source.text.slice(start, end).matchAll(/[a-z0-9]+\/[a-z0-9-]+/g)) {
    const from = start + m.index;
    if (offset >= from && offset <= from + m[0].length) return { text: m[0], start: from };
  }
  return undefined;
}

function aclWord(question: HoverQuestion): { text: string; range: Hover["range"] } | undefined {
  const { offset } = question;
  for (const { contract, input } of question.seen) {
    for (const acl of contract.acls) {
      if (acl.input !== input) continue;
      const found = wordAt(
        acl.view,
        offset,
        aclFileLines(acl.view, { placeholders: acl.templated }),
        contract.redis.acl(acl),
      );
      if (found !== undefined) return found;
    }
    for (const plane of contract.planes) {
      for (const server of plane.servers) {
        const { conf } = server;
        const load = conf?.input === input ? contract.redis.access(server)?.load : undefined;
        if (conf === undefined || load === undefined) continue;
        const found = wordAt(conf.view, offset, confUserLines(conf.view, { placeholders: conf.templated }), load);
        if (found !== undefined) return found;
      }
    }
  }
  return undefined;
}

function wordAt(
  view: TextView,
  offset: number,
  lines: ReturnType<typeof aclFileLines>,
  load: AclLoad,
): { text: string; range: Hover["range"] } | undefined {
  const table = commandTable(load.server.id);
  if (table === undefined) return undefined;
  for (const line of lines) {
    if (offset < view.outer(line.start) || offset > view.outer(line.end, true)) continue;
    let i = 0;
    for (const word of line.words()) {
      const { start, end } = word.at;
      if (offset >= start && offset <= end && word.text !== "") {
        const text =
          i === 1 ? aboutUser(load, word.text) : i === 0 ? undefined : aboutWord(word.text, table, word.placeholder);
        return text === undefined ? undefined : { text, range: rangeOf(word.at) };
      }
      i++;
    }
  }
  return undefined;
}

function aboutWord(
  word: string,
  table: NonNullable<ReturnType<typeof commandTable>>,
  placeholder: boolean,
): string | undefined {
  // the words of a selector: its parentheses belong to the first and the last
  const inner = word.length > 1 && word.startsWith("(") ? word.slice(1) : word;
  const meaning = meaningOf(inner.endsWith(")") ? inner.slice(0, -1) : inner, table, placeholder);
  if (meaning === undefined) return undefined;
  const { text, commands } = meaning;
  if (commands.length === 0) return text;
  const more = commands.length > SHOWN ? ` and ${commands.length - SHOWN} more` : "";
  return `${text}\n\n${commands
    .slice(0, SHOWN)
    .map((c) => `\`${c}\``)
    .join(" ")}${more}`;
}

function aboutUser(load: AclLoad, name: string): string | undefined {
  const user = load.users.get(name);
  if (user === undefined) return undefined;
  const about = describeUser(user);
  if (!("commands" in about)) return undefined;
  const lines = [
    `**user ${name}** as ${load.server.id} sees it`,
    "",
    `- flags: \`${about.flags.join(" ")}\``,
    `- commands: \`${about.commands}\``,
    `- keys: \`${about.keys || "none"}\``,
    `- channels: \`${about.channels || "none"}\``,
  ];
  for (const s of about.selectors ?? []) lines.push(`- selector: \`${Object.values(s).filter(Boolean).join(" ")}\``);
  if (!user.certain) lines.push("- placeholders hide a part of it");
  return lines.join("\n");
}
