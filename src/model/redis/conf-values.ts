import type { ConfArgument, ConfStatement } from "../../document/redis-conf.js";
import type { Span } from "../../text/source.js";
import type { Loaded } from "./conf-load.js";
import { type Directive, directive } from "./directives.js";

/** Who set a value last. */
export type ConfOrigin = "file" | "script" | "argument";

/**
 * Why a value is not known: a placeholder stands for it; its line may not be there (`conditional`); a template's gap, a
 * script, an include or standard input may set it; what is written is no value.
 */
export type UnknownWhy = "placeholder" | "conditional" | "template" | "script" | "include" | "argument" | "invalid";

export interface Setting {
  readonly statement: ConfStatement;
  readonly origin: ConfOrigin;
  /** As `CONFIG GET` prints it; undefined: see `why`. */
  readonly value: string | undefined;
  readonly why?: UnknownWhy | undefined;
  readonly loaded: Loaded;
}

export type ConfValue =
  | {
      readonly state: "known";
      /** As `CONFIG GET` prints it: `yes`, `1073741824`, `900 1 300 10`. */
      readonly value: string;
      /** The words as they stand; empty for a default. */
      readonly args: readonly ConfArgument[];
      /** The line, and the name in it; undefined for a default. */
      readonly at: Span | undefined;
      readonly statement: ConfStatement | undefined;
      readonly from: ConfOrigin | "default";
    }
  | {
      readonly state: "unknown";
      readonly why: UnknownWhy;
      /** Some value is set, only which one is unknown: a placeholder. */
      readonly set: boolean;
      readonly args: readonly ConfArgument[];
      /** The line, or the place of what may set it. */
      readonly at: Span | undefined;
      readonly statement: ConfStatement | undefined;
    }
  /** Not set, and there is no default: the server goes without. */
  | { readonly state: "absent" };

/** Why what is not set may be set all the same. */
export interface Gap {
  readonly why: UnknownWhy;
  readonly at: Span | undefined;
  readonly names: ReadonlySet<string> | undefined;
}

const SENTINEL_DEFAULTS: Record<string, string> = { port: "26379", "protected-mode": "no" };

const NO_ARGS: readonly ConfArgument[] = [];

/** What a statement sets. Its words and their places are read when asked for: places cost a second parse of a manifest. */
class StatedValue {
  readonly statement: ConfStatement;

  constructor(statement: ConfStatement) {
    this.statement = statement;
  }

  get args(): readonly ConfArgument[] {
    return this.statement.args;
  }

  get at(): Span {
    return this.statement.at;
  }
}

class KnownSetting extends StatedValue {
  readonly state = "known";
  readonly value: string;
  readonly from: ConfOrigin;

  constructor(statement: ConfStatement, value: string, from: ConfOrigin) {
    super(statement);
    this.value = value;
    this.from = from;
  }
}

class UnknownSetting extends StatedValue {
  readonly state = "unknown";
  readonly why: UnknownWhy;

  constructor(statement: ConfStatement, why: UnknownWhy) {
    super(statement);
    this.why = why;
  }

  get set(): boolean {
    return this.why === "placeholder";
  }
}

/** What is not set, and may be set by what is not known here. */
class UnsetValue {
  readonly state = "unknown";
  readonly set = false;
  readonly args = NO_ARGS;
  readonly statement = undefined;
  readonly #gap: Gap;

  constructor(gap: Gap) {
    this.#gap = gap;
  }

  get why(): UnknownWhy {
    return this.#gap.why;
  }

  get at(): Span | undefined {
    return this.#gap.at;
  }
}

/** The values that a server runs with: known, unknown, or absent. */
export class ConfValues {
  readonly server: string;
  readonly mode: "data" | "sentinel";
  /** Something that is not known here may set what is not set. */
  readonly complete: boolean;
  readonly #settings: ReadonlyMap<string, Setting>;
  readonly #statements: ReadonlyMap<string, readonly ConfStatement[]>;
  readonly #gaps: readonly Gap[];
  /** What a gap leaves of the directives that it hides. */
  readonly #hidden = new Map<Gap, ConfValue>();

  constructor(
    server: string,
    mode: "data" | "sentinel",
    settings: ReadonlyMap<string, Setting>,
    statements: ReadonlyMap<string, readonly ConfStatement[]>,
    gaps: readonly Gap[],
  ) {
    this.server = server;
    this.mode = mode;
    this.#settings = settings;
    this.#statements = statements;
    this.#gaps = gaps;
    this.complete = gaps.length === 0;
  }

  /** The value of a directive by its name or alias in lower case. */
  get(name: string): ConfValue {
    const option = directive(this.server, name);
    const canonical = option?.name ?? name;
    const setting = this.#settings.get(canonical);
    if (setting === undefined) return this.#unset(canonical, option);
    const { statement, value, why, origin } = setting;
    return value === undefined ? new UnknownSetting(statement, why!) : new KnownSetting(statement, value, origin);
  }

  #unset(canonical: string, option: Directive | undefined): ConfValue {
    const gap = this.#gaps.find((g) => g.names === undefined || g.names.has(canonical));
    if (gap !== undefined) {
      let value = this.#hidden.get(gap);
      if (value === undefined) this.#hidden.set(gap, (value = new UnsetValue(gap)));
      return value;
    }
    const own = this.mode === "sentinel" ? SENTINEL_DEFAULTS[canonical] : undefined;
    const value = own ?? option?.default ?? "";
    if (value === "" && (option === undefined || option.kind === "string" || option.kind === "special"))
      return { state: "absent" };
    return { state: "known", value, args: NO_ARGS, at: undefined, statement: undefined, from: "default" };
  }

  /** `yes`/`no`; undefined: not known. */
  flag(name: string): boolean | undefined {
    const value = this.get(name);
    return value.state === "known" ? value.value === "yes" : undefined;
  }

  /** undefined: not known, absent, or no number. */
  number(name: string): number | undefined {
    const value = this.get(name);
    return value.state === "known" && /^-?\d+$/.test(value.value) ? Number(value.value) : undefined;
  }

  /** A text that is surely set to something other than "". */
  isSet(name: string): boolean | undefined {
    const value = this.get(name);
    if (value.state === "absent") return false;
    if (value.state === "known") return value.value !== "";
    return value.set ? true : undefined;
  }

  /** Every line of a directive or statement (`user`, `rename-command`, `save`, `sentinel` …), in the server's order. */
  all(name: string): readonly ConfStatement[] {
    const option = directive(this.server, name);
    if (option === undefined) return this.#statements.get(name) ?? [];
    const own = this.#statements.get(option.name) ?? [];
    const other = option.alias === undefined ? undefined : this.#statements.get(option.alias);
    return other === undefined ? own : [...own, ...other];
  }

  /** What keeps absent directives unknown: gaps of templates, scripts, includes. */
  get gaps(): readonly { readonly why: UnknownWhy; readonly at: Span | undefined }[] {
    return this.#gaps;
  }
}
