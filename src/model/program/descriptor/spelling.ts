/** Equal things that are spelled differently: enum constants of code against the words of a manifest. */

/** Letters and digits in lower case: `READ_WRITE`, `readWrite` and `read-write` are one. */
export function normal(word: string): string {
  return word.replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();
}

const WORDS = {
  access: {
    R: ["r", "read", "readonly", "ro", "reads"],
    W: ["w", "write", "writeonly", "wo", "writes"],
    RW: ["rw", "wr", "readwrite", "writeread", "readandwrite", "rdwr"],
  },
  type: {
    integer: ["integer", "int", "long", "int64", "int32", "i64", "bigint", "bigintegertype"],
    number: ["number", "double", "float", "decimal", "numeric"],
    string: ["string", "str", "text", "bulk", "bulkstring", "status", "bytes"],
    boolean: ["boolean", "bool", "flag"],
    array: ["array", "list", "multi", "tuple"],
    map: ["map", "object", "hash", "dictionary"],
    nil: ["nil", "null", "none", "void"],
  },
  unit: {
    none: ["none", "", "unitless", "no"],
    count: ["count", "counter", "n", "items", "number"],
    milliseconds: ["milliseconds", "millisecond", "millis", "ms", "msec"],
    seconds: ["seconds", "second", "sec", "secs", "s"],
    bytes: ["bytes", "byte"],
    token: ["token", "id", "opaque"],
  },
  retry: {
    safe: ["safe", "retrysafe", "saferetry", "safetoretry", "replaysafe", "idempotent"],
    unsafe: ["unsafe", "notsafe", "retryunsafe", "unsafetoretry", "nonidempotent", "never"],
    "read-only": ["readonly", "read", "ro"],
  },
  slotRule: {
    "single-key": ["singlekey", "single"],
    "same-hash-tag": ["samehashtag", "hashtag", "sametag", "sameslot"],
    none: ["none", "any"],
  },
  certainty: {
    definite: ["definite"],
    "indeterminate-on-loss": ["indeterminateonloss", "indeterminate"],
  },
  guarantee: { none: ["none"], efficiency: ["efficiency"], fenced: ["fenced", "fencing"] },
} as const;

export type Vocabulary = keyof typeof WORDS;

const tables = new Map<Vocabulary, ReadonlyMap<string, string>>(
  (Object.keys(WORDS) as Vocabulary[]).map((vocabulary) => [
    vocabulary,
    new Map(
      Object.entries(WORDS[vocabulary] as Record<string, readonly string[]>).flatMap(([word, all]) =>
        all.map((spelled) => [spelled, word] as const),
      ),
    ),
  ]),
);

/** The manifest's word for a spelling; undefined: not one of the vocabulary. */
export function wordOf(vocabulary: Vocabulary, spelled: string): string | undefined {
  return tables.get(vocabulary)!.get(normal(spelled));
}

/** `get`, `CONFIG GET`, `CONFIG|GET`, `Config_Get` as the manifest writes them. */
export function commandOf(spelled: string): string {
  return spelled.trim().toUpperCase().replace(/[ |]+/g, "|");
}

/** A path without scheme, leading slashes and dots: `classpath:/redis/x.lua` is `redis/x.lua`. */
export function pathOf(spelled: string): string {
  return spelled
    .replace(/^(?:classpath\*?|file|resource):/i, "")
    .replace(/\\/g, "/")
    .split("/")
    .filter((part) => part !== "" && part !== "." && part !== "..")
    .join("/");
}

/** Whether two paths can name one file: one is the end of the other. */
export function samePath(a: string, b: string): boolean {
  const [x, y] = [pathOf(a), pathOf(b)];
  return x === y || x.endsWith(`/${y}`) || y.endsWith(`/${x}`);
}

/** `7.2` and `7.2.0` are one version; undefined: not a version. */
export function versionOf(spelled: string): string | undefined {
  const m = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(spelled.trim());
  return m === null ? undefined : `${Number(m[1])}.${Number(m[2] ?? 0)}.${Number(m[3] ?? 0)}`;
}
