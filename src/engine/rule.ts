/** The shape of a rule. A rule is data plus handlers by kind of entity; the engine owns the walk. */
import type { Contract, Entities } from "../model/contract.js";
import type { Place } from "../model/place.js";
import type { Span } from "../text/source.js";
import type { Fix, Severity } from "./diagnostic.js";

/** The names of the `{holes}` of a message text. */
export type Holes<T extends string> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | Holes<Rest> : never;

/**
 * A message of a rule. `text` says what is wrong, with `{holes}`; `help` what would be right. `severity` is that in a
 * declared contract (default: the rule's), `inferred` that without a contract file. `once`: in an inferred contract a
 * weaker posture is said once per set, further places are related ones.
 */
export interface MessageSpec {
  readonly text: string;
  readonly help?: string;
  readonly severity?: Severity;
  readonly inferred?: Severity | "off";
  readonly once?: boolean;
}

export type Messages = Readonly<Record<string, string | MessageSpec>>;
type TextOf<M> = M extends string
  ? M
  : M extends { text: infer T extends string; help: infer H extends string }
    ? T | H
    : M extends { text: infer T extends string }
      ? T
      : never;
type DataOf<M> = [Holes<TextOf<M>>] extends [never]
  ? Record<string, never> | undefined
  : { readonly [K in Holes<TextOf<M>>]: string | number };

export interface ReportExtra {
  readonly related?: readonly { readonly at: Span | Place; readonly message: string }[] | undefined;
  readonly fix?: Fix | undefined;
  /** Overrides the message's severity where it depends on the case (never raises an inferred `off`). */
  readonly severity?: Severity | undefined;
}

export interface RuleContext<M extends Messages> {
  readonly contract: Contract;
  readonly options: Readonly<Record<string, unknown>>;
  report<Id extends keyof M & string>(id: Id, data: DataOf<M[Id]>, at: Span | Place, extra?: ReportExtra): void;
}

export interface RuleDocs {
  /** One line: the promise that the rule guards. */
  readonly summary: string;
  /** Why it matters: what breaks. First sentence is shown below a finding. */
  readonly why: string;
  /** What would be right, one line. */
  readonly fix: string;
  readonly bad: string;
  readonly good: string;
  /** The Kubernetes or Redis document, or the recording, that this stands on. */
  readonly source: { readonly title: string; readonly url: string };
  /** Rows of the requirement list. */
  readonly rows: readonly string[];
}

export interface RuleSpec<M extends Messages> {
  readonly severity: Severity;
  /** Severity in an inferred contract (default: `warning` where `severity` is `error`). */
  readonly inferred?: Severity | "off";
  readonly docs: RuleDocs;
  readonly messages: M;
  readonly fixable?: boolean;
  readonly on: { readonly [K in keyof Entities]?: (entity: Entities[K], context: RuleContext<M>) => void };
}

/** A rule without its id: the id is the path of its file. */
export interface RuleDefinition extends Omit<RuleSpec<Messages>, "on"> {
  readonly on: { readonly [K in keyof Entities]?: (entity: Entities[K], context: RuleContext<Messages>) => void };
}

export interface Rule extends RuleDefinition {
  readonly id: string;
}

export function defineRule<const M extends Messages>(spec: RuleSpec<M>): RuleDefinition {
  return spec as unknown as RuleDefinition;
}

/** A definition with its id: stamped on it, because a copy would ask for the texts, which the bundle reads when needed. */
export function named(id: string, definition: RuleDefinition): Rule {
  return Object.assign(definition, { id });
}

export function messageSpec(rule: RuleDefinition, id: string): MessageSpec {
  const message = rule.messages[id];
  if (message === undefined) throw new TypeError(`no message "${id}"`);
  return typeof message === "string" ? { text: message } : message;
}

/** Fills the holes of a text; a missing value is a bug of the rule. */
export function fill(text: string, data: Readonly<Record<string, string | number>> | undefined): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = data?.[name];
    if (value === undefined) throw new TypeError(`the message needs a value for "${name}"`);
    return String(value);
  });
}
