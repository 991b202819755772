/** What variables hold at one point of a script. */
import { EMPTY, sameText, type Text } from "./text.js";

const MAX_VARIABLES = 500;
/** Possibilities that are kept for a variable. */
export const MAX_OPTIONS = 8;

/** What a variable holds: a text, an array, nothing (certainly not set), or something unknown with known possibilities. */
export type Binding =
  | { readonly kind: "text"; readonly text: Text }
  | { readonly kind: "array"; readonly items: readonly Text[] }
  | { readonly kind: "unset" }
  | { readonly kind: "unknown"; readonly options?: readonly Text[] };

export const UNKNOWN: Binding = { kind: "unknown" };

/** Values at one point of a script; a copy shares its map until one of the two writes. */
export class Scope {
  #variables: Map<string, Binding>;
  #shared: boolean;
  /** undefined: unknown. */
  positional: readonly Text[] | undefined;

  constructor(variables: Map<string, Binding> = new Map(), positional?: readonly Text[], shared = false) {
    this.#variables = variables;
    this.positional = positional;
    this.#shared = shared;
  }

  copy(): Scope {
    this.#shared = true;
    return new Scope(this.#variables, this.positional, true);
  }

  get(name: string): Binding | undefined {
    return this.#variables.get(name);
  }

  set(name: string, binding: Binding | undefined): void {
    if (this.#shared) {
      this.#variables = new Map(this.#variables);
      this.#shared = false;
    }
    if (binding === undefined) this.#variables.delete(name);
    else if (this.#variables.size < MAX_VARIABLES || this.#variables.has(name)) this.#variables.set(name, binding);
  }

  forgetAll(): void {
    for (const name of [...this.#variables.keys()]) this.set(name, UNKNOWN);
  }

  /** Becomes what is true on every one of the ways. */
  join(ways: readonly Scope[], start: (name: string) => Binding | undefined): void {
    const first = ways[0];
    if (first === undefined) return;
    const same = ways.every((way) => samePositional(way.positional, first.positional));
    this.positional = same ? first.positional : undefined;
    const maps = ways.map((way) => way.#variables);
    for (const way of ways) way.#shared = true;
    this.#shared = true;
    this.#variables = maps[0]!;
    for (const other of maps.slice(1)) {
      if (other === this.#variables) continue;
      for (const [name, binding] of other) {
        const mine = this.#variables.get(name);
        if (mine !== binding) this.set(name, joinBindings(mine ?? start(name) ?? UNKNOWN, binding));
      }
      for (const [name, binding] of [...this.#variables]) {
        if (!other.has(name)) this.set(name, joinBindings(binding, start(name) ?? UNKNOWN));
      }
    }
  }
}

function samePositional(a: readonly Text[] | undefined, b: readonly Text[] | undefined): boolean {
  return (
    a === b ||
    (a !== undefined && b !== undefined && a.length === b.length && a.every((text, i) => sameText(text, b[i]!)))
  );
}

function joinBindings(a: Binding, b: Binding): Binding {
  if (a === b) return a;
  if (a.kind === "text" && b.kind === "text" && sameText(a.text, b.text)) return a;
  if (a.kind === "array" && b.kind === "array" && samePositional(a.items, b.items)) return a;
  if (a.kind === "unset" && b.kind === "unset") return a;
  const options = optionsOf(a);
  const more = optionsOf(b);
  if (options === undefined || more === undefined) return UNKNOWN;
  const all = [...options];
  for (const text of more) if (!all.some((other) => sameText(text, other))) all.push(text);
  return all.length > MAX_OPTIONS ? UNKNOWN : { kind: "unknown", options: all };
}

function optionsOf(binding: Binding): readonly Text[] | undefined {
  if (binding.kind === "text") return [binding.text];
  if (binding.kind === "unset") return [EMPTY];
  return binding.kind === "unknown" ? binding.options : undefined;
}
