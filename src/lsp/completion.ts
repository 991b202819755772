/** Completion in contract files, from their JSON Schema and the contracts, and of rule ids wherever they are named. */
import type { CompletionItem, CompletionItemKind } from "vscode-languageserver";
import schema from "../../schemas/contract.schema.json";
import type { LoadedRoot } from "../contract/load.js";
import type { Rule } from "../engine/rule.js";
import type { Source } from "../text/source.js";
import { cursorAt } from "./cursor.js";
import { rangeOf } from "./places.js";

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly propertyNames?: Schema;
  readonly items?: Schema | readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

// numbers of the protocol: its enums are code of a library that is loaded for the server only
const PROPERTY = 10 as CompletionItemKind;
const VALUE = 12 as CompletionItemKind;
const FILE = 17 as CompletionItemKind;
const REFERENCE = 18 as CompletionItemKind;
const RULE = 20 as CompletionItemKind;

/** Completions in a comment `quorumlint: ignore[…` of any file. */
export function completeIgnore(source: Source, offset: number, rules: readonly Rule[]): CompletionItem[] {
  const start = source.text.lastIndexOf("\n", offset - 1) + 1;
  const found = /quorumlint:[ \t]*ignore\[(?:[^\]]*,)?[ \t]*([\w/*-]*)$/.exec(
    source.text.slice(Math.max(start, offset - 500), offset),
  );
  return found === null ? [] : rules.map((rule) => ruleItem(source, offset - found[1]!.length, offset, rule));
}

function ruleItem(source: Source, from: number, to: number, rule: Rule): CompletionItem {
  return {
    label: rule.id,
    kind: RULE,
    detail: rule.severity,
    documentation: `${rule.docs.summary}\n\n${rule.docs.why}`,
    textEdit: { range: rangeOf(source.span(from, to)), newText: rule.id },
  };
}

/** Completions in a contract file. `roots`: what it declared when it was last read without a fault. */
export function completeContract(
  source: Source,
  offset: number,
  rules: readonly Rule[],
  roots: readonly LoadedRoot[],
): CompletionItem[] {
  const cursor = cursorAt(source.text, offset);
  if (cursor === undefined) return [];
  const { path, key, typed, start } = cursor;
  const range = rangeOf(source.span(start, offset));
  const item = (
    label: string,
    kind: CompletionItemKind,
    newText: string,
    about: Partial<CompletionItem> = {},
  ): CompletionItem => ({
    label,
    kind,
    filterText: newText.startsWith('"') ? newText : label,
    textEdit: { range, newText },
    ...about,
  });
  const around = path.reduce<readonly Schema[]>(
    (list, step) => list.flatMap((s) => inside(s, step)),
    [schema as Schema],
  );
  const out = new Map<string, CompletionItem>();
  const add = (i: CompletionItem): void => {
    if (!out.has(i.label)) out.set(i.label, i);
  };
  const rulePlace =
    path.length === 0 && key === undefined ? false : path[0] === "rules" || (path[0] === "suppress" && key === "rule");
  if (key === undefined) {
    for (const s of around) {
      for (const [name, property] of Object.entries(s.properties ?? {})) {
        const about = resolve(property);
        const description = property.description ?? about[0]?.description;
        add(item(name, PROPERTY, `${name}: `, description === undefined ? {} : { documentation: description }));
      }
      for (const name of wordsOf(s.propertyNames))
        if (!rules.some((r) => r.id === name)) add(item(name, RULE, `${quoted(name)}: `));
    }
    if (rulePlace && path.length === 1)
      for (const rule of rules)
        add({ ...ruleItem(source, start, offset, rule), textEdit: { range, newText: `${rule.id}: ` } });
  } else {
    if (rulePlace && path[0] === "suppress") for (const rule of rules) add(ruleItem(source, start, offset, rule));
    for (const s of around.flatMap((s) => (key === "[]" ? [s] : inside(s, key)))) {
      const of = key === "[]" && s.items !== undefined ? inside(s, "[]") : [s];
      for (const word of of.flatMap((o) => wordsOf(o))) add(item(word, VALUE, word));
    }
    for (const [word, kind] of known(path, key, roots)) add(item(word, kind, quoted(word)));
  }
  // what is typed in quotes is completed in quotes
  return typed.startsWith('"') ? [...out.values()].map((i) => inQuotes(i, range)) : [...out.values()];
}

function inQuotes(item: CompletionItem, range: ReturnType<typeof rangeOf>): CompletionItem {
  const text = JSON.stringify(item.label);
  return { ...item, filterText: text, textEdit: { range, newText: text } };
}

/** What a value may name: files, workloads and users of the contract. */
function known(path: readonly string[], key: string, roots: readonly LoadedRoot[]): [string, CompletionItemKind][] {
  const out: [string, CompletionItemKind][] = [];
  const contracts = roots.flatMap((r) => r.contracts);
  const last = key === "[]" ? path.at(-1) : key;
  if (last === "workload")
    for (const c of contracts) for (const w of c.workloads) out.push([`${w.kind}/${w.name}`, REFERENCE]);
  else if ((last === "config" || last === "acl") && path.includes("planes")) {
    for (const c of contracts) {
      for (const t of last === "acl" ? c.acls : c.confs)
        out.push(t.owner === undefined ? [t.input.file, FILE] : [`ConfigMap/${t.owner.name}#${t.key}`, REFERENCE]);
    }
  } else if (last === "file") for (const c of contracts) for (const f of c.files) out.push([f.file, FILE]);
  else if (path[0] === "contracts" && path[2] === "roles") {
    for (const c of contracts)
      for (const { load } of c.redis.accessLists)
        for (const name of load?.users.keys() ?? []) out.push([name, REFERENCE]);
  } else if ((last === "from" || last === "to") && path.includes("edges")) {
    for (const word of ["data", "sentinel", "all", "dns"]) out.push([word, VALUE]);
    for (const c of contracts) for (const w of c.workloads) out.push([`${w.kind}/${w.name}`, REFERENCE]);
  }
  return out;
}

function resolve(s: Schema): readonly Schema[] {
  if (s.$ref !== undefined) {
    const name = s.$ref.slice("#/definitions/".length);
    const target = (schema as unknown as { definitions: Record<string, Schema> }).definitions[name];
    return target === undefined ? [] : resolve(target);
  }
  return s.anyOf === undefined ? [s] : s.anyOf.flatMap(resolve);
}

/** The schemas one key or item deeper. */
function inside(s: Schema, step: string): readonly Schema[] {
  return resolve(s).flatMap((own) => {
    if (step === "[]")
      return (Array.isArray(own.items) ? own.items : own.items === undefined ? [] : [own.items]).flatMap(resolve);
    const property =
      own.properties !== undefined && Object.hasOwn(own.properties, step) ? own.properties[step] : undefined;
    if (property !== undefined) return resolve(property);
    return typeof own.additionalProperties === "object" ? resolve(own.additionalProperties) : [];
  });
}

function wordsOf(s: Schema | undefined): string[] {
  if (s === undefined) return [];
  return resolve(s).flatMap((own) => {
    if (own.enum !== undefined) return own.enum.map(String);
    if (own.const !== undefined) return [String(own.const)];
    return own.type === "boolean" ? ["true", "false"] : [];
  });
}

function quoted(word: string): string {
  return /^[A-Za-z_][\w./()=-]*(?:#[\w./-]+)?$/.test(word) ? word : JSON.stringify(word);
}
