/** What a contract file declares, as plain values (its JSON Schema is `schemas/contract.schema.json`). */
export type StringOrStrings = string | readonly string[];

export interface PlaneConfig {
  readonly workload?: string;
  readonly config?: string;
  readonly acl?: string;
  readonly service?: string;
  readonly container?: string;
}

export interface FileWithMap {
  readonly file: string;
  readonly map?: Readonly<Record<string, string>>;
}

export interface EdgeConfig {
  readonly from: string;
  readonly to: string;
  readonly port?: number | string | readonly number[];
  readonly endPort?: number;
  readonly protocol?: string | readonly string[];
}

export interface TlsFacts {
  readonly issuer?: string;
  readonly usage?: readonly ("server" | "client")[];
  readonly names?: readonly string[];
  readonly notAfter?: string;
  readonly trusts?: readonly string[];
}

export interface ContractConfig {
  readonly preset?: "redis-sentinel";
  readonly templates?: boolean | readonly string[];
  readonly redis?: { readonly minimumVersion?: string | number };
  readonly kubernetes?: {
    readonly version?: string | number;
    readonly manifests?: StringOrStrings;
    readonly namespace?: string;
    readonly inventory?: readonly {
      readonly file?: string;
      readonly kind: string;
      readonly name: string;
      readonly namespace?: string;
      readonly apiVersion?: string;
    }[];
    readonly provided?: readonly string[];
  };
  readonly planes?: { readonly data?: PlaneConfig; readonly sentinel?: PlaneConfig };
  readonly tls?: Readonly<Record<string, TlsFacts>>;
  readonly roles?: {
    readonly [role in "application" | "replica" | "control" | "peer" | "discovery" | "probe"]?: StringOrStrings;
  };
  readonly policy?: {
    readonly peer?: "superuser" | "minimal";
    readonly client?: string;
    readonly commands?: Readonly<Record<string, readonly string[]>>;
    readonly limits?: { readonly election?: string | number; readonly recovery?: string | number };
    readonly maxLag?: number;
    readonly rotation?: "none" | "live";
    readonly minAvailable?: number | string;
  };
  readonly network?: { readonly edges?: readonly EdgeConfig[] };
  readonly images?: { readonly file?: string; readonly key?: string; readonly approvedKey?: string };
  readonly programs?: readonly {
    readonly manifest?: string;
    readonly scripts?: StringOrStrings;
    readonly descriptors?: string | FileWithMap | readonly (string | FileWithMap)[];
    readonly callers?: StringOrStrings;
    readonly user?: string;
    readonly keys?: StringOrStrings;
    readonly map?: Readonly<Record<string, string>>;
    readonly boundaries?: readonly string[];
    readonly sources?: StringOrStrings;
  }[];
  readonly registries?: Readonly<Record<string, unknown>>;
  readonly application?: {
    readonly files?: StringOrStrings;
    readonly profile?: string;
    readonly map?: Readonly<Record<string, string>>;
  };
  readonly workflows?: {
    readonly gate?: string;
    readonly files?: StringOrStrings;
    readonly optional?: readonly string[];
  };
  readonly lab?: Readonly<Record<string, unknown>>;
  readonly packets?:
    | readonly string[]
    | { readonly files: StringOrStrings; readonly labels?: Readonly<Record<string, unknown>> };
}

export function list(value: StringOrStrings | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}

/** Milliseconds of `60s`, `1500ms`, `2m`; a bare number is seconds. */
export function durationMs(value: string | number | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number") return value * 1000;
  const m = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(value.trim());
  if (m === null) return undefined;
  const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[m[2] as "ms" | "s" | "m" | "h"];
  return Number(m[1]) * unit;
}
