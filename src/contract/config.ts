/** `quorumlint.yaml`: read, checked against its schema with places, and turned into settings. */

import contractSchema from "../../schemas/contract.schema.json?data";
import validate from "../../schemas/contract.schema.json?validate";
import { type Path, parseYaml, type YamlDocument } from "../document/yaml.js";
import type { Severity } from "../engine/diagnostic.js";
import type { RuleSetting } from "../engine/lint.js";
import type { ContractConfig } from "../model/settings.js";
import { nearest } from "../text/similar.js";
import type { Source, Span } from "../text/source.js";
import { Glob } from "./glob.js";

/** A fault in the contract file: the user's mistake, exit 2. */
export interface ConfigProblem {
  readonly message: string;
  readonly at: Span;
}

export interface SuppressEntry {
  readonly rule: string;
  readonly file: string | undefined;
  readonly contract: string | undefined;
  readonly message: string | undefined;
  readonly reason: string;
  readonly until: string | undefined;
  readonly at: Span;
}

export interface ConfigFile {
  readonly source: Source;
  readonly document: YamlDocument;
  readonly contracts: ReadonlyMap<string, ContractConfig>;
  readonly ignore: readonly Glob[];
  readonly suppress: readonly SuppressEntry[];
  setting(rule: string): RuleSetting;
}

export const CONFIG_NAMES: readonly string[] = ["quorumlint.yaml", "quorumlint.yml"];

export function readConfig(
  source: Source,
  ruleIds: readonly string[],
): { config?: ConfigFile; problems: ConfigProblem[] } {
  const file = parseYaml(source, "core");
  const problems: ConfigProblem[] = file.problems.map((p) => ({ message: p.message, at: p.at }));
  const document = file.documents[0];
  if (problems.length === 0 && document === undefined) {
    problems.push({ message: "the contract file is empty: it needs at least `version: 1`", at: source.span(0, 0) });
  }
  if (file.documents[1] !== undefined) {
    problems.push({ message: "a contract file is one YAML document", at: file.documents[1].locate([]) });
  }
  if (document === undefined || problems.length > 0) return { problems };
  for (const d of document.duplicates) problems.push({ message: `the key "${d.key}" stands twice`, at: d.at });
  if (!validate(document.value)) problems.push(...schemaProblems(document));
  if (problems.length > 0) return { problems };

  const value = document.value as {
    contracts?: Record<string, ContractConfig>;
    rules?: Record<string, string | [string, Record<string, unknown>?]>;
    ignore?: string[];
    suppress?: { rule: string; file?: string; contract?: string; message?: string; reason: string; until?: string }[];
  };
  const settings = Object.keys(value.rules ?? {}).map((pattern) => {
    const raw = value.rules![pattern]!;
    const glob = new Glob(pattern);
    if (!ruleIds.some((id) => glob.matches(id))) {
      problems.push(unknownRule(pattern, ruleIds, document.locate(["rules", pattern], "key")));
    }
    return {
      glob,
      severity: (typeof raw === "string" ? raw : raw[0]) as Severity | "off",
      options: typeof raw === "string" ? {} : (raw[1] ?? {}),
    };
  });
  const suppress = (value.suppress ?? []).map((s, i): SuppressEntry => {
    if (
      !ruleIds.includes(s.rule) &&
      !(s.rule.endsWith("/*") && ruleIds.some((id) => id.startsWith(s.rule.slice(0, -1))))
    ) {
      problems.push(unknownRule(s.rule, ruleIds, document.locate(["suppress", i, "rule"])));
    }
    return {
      rule: s.rule,
      file: s.file,
      contract: s.contract,
      message: s.message,
      reason: s.reason,
      until: s.until,
      at: document.locate(["suppress", i, "rule"]),
    };
  });
  if (problems.length > 0) return { problems };
  return {
    problems,
    config: {
      source,
      document,
      contracts: new Map(Object.entries(value.contracts ?? {})),
      ignore: (value.ignore ?? []).map((g) => new Glob(g)),
      suppress,
      setting: (rule) => {
        let found: RuleSetting = NO_SETTING;
        // later and exact entries win over earlier globs
        for (const s of settings) {
          if (!s.glob.matches(rule)) continue;
          if (found !== NO_SETTING && s.glob.magic && exact(settings, rule)) continue;
          found = { severity: s.severity, options: s.options };
        }
        return found;
      },
    },
  };
}

export const NO_SETTING: RuleSetting = { severity: undefined, options: {} };

function exact(settings: readonly { glob: Glob }[], rule: string): boolean {
  return settings.some((s) => s.glob.pattern === rule);
}

function unknownRule(id: string, ids: readonly string[], at: Span): ConfigProblem {
  const hint = nearest(id, ids);
  return { message: `there is no rule "${id}"${hint === undefined ? "" : `; did you mean "${hint}"?`}`, at };
}

function schemaProblems(document: YamlDocument): ConfigProblem[] {
  const out = new Map<string, ConfigProblem & { rank: number }>();
  for (const error of validate.errors ?? []) {
    const path = pathOf(error.instancePath, document.value);
    let problem: ConfigProblem;
    let rank = 1;
    if (error.keyword === "additionalProperties") {
      const key = String(error.params["additionalProperty"]);
      const known = knownKeys(path);
      const hint = nearest(key, known);
      const offer =
        hint !== undefined ? `; did you mean "${hint}"?` : known.length > 0 ? `; known are ${known.join(", ")}` : "";
      problem = {
        message: `unknown key "${key}"${path.length > 0 ? ` in ${path.join(".")}` : ""}${offer}`,
        at: document.locate([...path, key], "key"),
      };
      rank = 3;
    } else if (error.keyword === "required") {
      problem = {
        message: `"${String(error.params["missingProperty"])}" is missing${path.length > 0 ? ` in ${path.join(".")}` : ""}`,
        at: document.nearest([...path, String(error.params["missingProperty"])]),
      };
      rank = 2;
    } else if (error.keyword === "enum" || error.keyword === "const") {
      const allowed = (error.params["allowedValues"] as unknown[] | undefined) ?? [error.params["allowedValue"]];
      const given = String(
        path.reduce<unknown>((v, k) => (v as Record<string | number, unknown>)?.[k], document.value),
      );
      const hint = nearest(given, allowed.map(String));
      problem = {
        message: `"${given}" is not one of ${allowed.map(String).join(", ")}${hint === undefined ? "" : `; did you mean "${hint}"?`}`,
        at: document.locate(path),
      };
      rank = 2;
    } else if (error.keyword === "anyOf") {
      problem = {
        message: `${path.join(".") || "the file"} has none of the accepted shapes`,
        at: document.locate(path),
      };
      rank = 0;
    } else {
      problem = {
        message: `${path.join(".") || "the file"} ${error.message ?? "is not valid"}`,
        at: document.locate(path),
      };
    }
    // one problem per place: the most telling one (an anyOf reports each branch)
    const key = `${problem.at.start}:${problem.at.end}`;
    const before = out.get(key);
    if (before === undefined || before.rank < rank) out.set(key, { ...problem, rank });
  }
  return [...out.values()].map(({ message, at }) => ({ message, at })).sort((a, b) => a.at.start - b.at.start);
}

function pathOf(pointer: string, value: unknown): Path {
  const out: (string | number)[] = [];
  let at: unknown = value;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const step = Array.isArray(at) ? Number(name) : name;
    out.push(step);
    at = (at as Record<string | number, unknown> | undefined)?.[step];
  }
  return out;
}

type Schema = Readonly<Record<string, unknown>>;

/** The keys that the schema knows at a path of the file. */
function knownKeys(path: Path): string[] {
  let at: Schema[] = [contractSchema() as Schema];
  for (const step of path) {
    at = at.flatMap(alternatives).flatMap((s) => {
      const own = (s["properties"] as Record<string, Schema> | undefined)?.[String(step)];
      const other = typeof step === "number" ? s["items"] : s["additionalProperties"];
      return [own ?? other].flat().filter((x): x is Schema => typeof x === "object" && x !== null);
    });
  }
  return at.flatMap(alternatives).flatMap((s) => Object.keys((s["properties"] as object | undefined) ?? {}));
}

function alternatives(s: Schema): Schema[] {
  const ref = s["$ref"];
  if (typeof ref === "string") {
    const target = ((contractSchema() as Schema)["definitions"] as Record<string, unknown>)[
      ref.slice("#/definitions/".length)
    ];
    return target === undefined ? [] : alternatives(target as Schema);
  }
  const any = s["anyOf"];
  return Array.isArray(any) ? (any as Schema[]).flatMap(alternatives) : [s];
}
