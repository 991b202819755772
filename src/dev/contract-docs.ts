/** `docs/contract-file.md`: every key of the contract file, made of its JSON Schema. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema | readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

const NAMES: Readonly<Record<string, string>> = {
  strings: "list of texts",
  stringOrStrings: "text or list of texts",
  date: "day",
  duration: "duration",
  map: "map of texts",
  fileWithMap: "text, or file and map",
  filesWithMap: "one or more of text, or file and map",
  plane: "map",
  contract: "map",
};

const TYPES: Readonly<Record<string, string>> = { string: "text", object: "map", array: "list", integer: "number" };

const INTRO = `# The contract file

\`quorumlint.yaml\`, in the directory that is checked or the nearest one above it (up to the repository's root). It turns a deployment from something that
is guessed into something that is promised: every breach of what stands here is an error. \`quorumlint init\` writes a first one from what is found.

Paths are relative to the directory of the contract file, with \`/\`; \`*\` is a part of a name, \`**\` any number of directories. A key that does not
exist, a rule that does not exist, a path that matches nothing: exit 2 with line and column, and the nearest valid name.

A day is \`2027-01-31\`; a duration \`60s\`, \`1500ms\`, \`2m\`, or a number of seconds. The schema is
[\`schemas/contract.schema.json\`](../schemas/contract.schema.json); editors complete and check with it when the file begins with
\`# yaml-language-server: $schema=node_modules/quorumlint/schemas/contract.schema.json\`, and \`quorumlint lsp\` does so anyway.

This page is made of the schema by \`npm run gen\`. A complete example is [\`fixtures/redis-lab/quorumlint.yaml\`](../fixtures/redis-lab/quorumlint.yaml).
`;

export function contractFilePage(schemaText: string): string {
  const root = JSON.parse(schemaText) as Schema;
  const definitions = root.definitions ?? {};
  const resolve = (s: Schema): Schema => (s.$ref === undefined ? s : (definitions[s.$ref.split("/").at(-1)!] ?? s));

  const type = (s: Schema): string => {
    if (s.$ref !== undefined) return NAMES[s.$ref.split("/").at(-1)!] ?? type(resolve(s));
    if (s.const !== undefined) return `\`${String(s.const)}\``;
    if (s.enum !== undefined) return s.enum.length > 12 ? "text" : s.enum.map((v) => `\`${String(v)}\``).join(", ");
    if (s.anyOf !== undefined) return [...new Set(s.anyOf.map(type))].join(" or ");
    return TYPES[s.type ?? ""] ?? s.type ?? "anything";
  };

  /** A row per key below a schema, with the path to it. */
  const rows = (s: Schema, path: string): string[] => {
    const own = resolve(s);
    const out: string[] = [];
    for (const [name, value] of Object.entries(own.properties ?? {})) {
      const key = path === "" ? name : `${path}.${name}`;
      const needed = own.required?.includes(name) === true ? ", required" : "";
      const text = value.description ?? resolve(value).description ?? "";
      out.push(`| \`${key}\` | ${type(value)}${needed} | ${text.replaceAll("|", "\\|")} |`, ...rows(value, key));
    }
    const items = own.items;
    if (items !== undefined && !Array.isArray(items)) out.push(...rows(items as Schema, `${path}[]`));
    if (typeof own.additionalProperties === "object") out.push(...rows(own.additionalProperties, `${path}.NAME`));
    for (const option of own.anyOf ?? []) out.push(...rows(option, path));
    return out;
  };

  const table = (lines: readonly string[]): string =>
    ["| key | value | meaning |", "|---|---|---|", ...lines].join("\n");
  const parts = [INTRO];
  const contract = resolve(root.properties!["contracts"]!.additionalProperties as Schema);
  const top = Object.entries(root.properties!).map(
    ([name, s]) =>
      `| \`${name}\` | ${type(s)}${root.required?.includes(name) === true ? ", required" : ""} | ${s.description ?? ""} |`,
  );
  parts.push(table(top));
  parts.push("", "## A contract", "", "Under `contracts:` stands one entry per deployment, by its name.");
  for (const [name, s] of Object.entries(contract.properties!)) {
    const lines = rows(s, name);
    const text = s.description ?? resolve(s).description ?? "";
    parts.push("", `### ${name}`, "", `${text} (${type(s)})`);
    if (lines.length > 0) parts.push("", table(lines));
  }
  parts.push(
    "",
    "## Rules",
    "",
    "Each rule, or each pack as `pack/*`, may be set to another severity or off; [the rules](rules/README.md).",
  );
  parts.push("", "```yaml", "rules:", "  k8s/resources: warning", "  acl/*: warning", "```");
  parts.push(
    "",
    "## Accepted findings",
    "",
    "`suppress:` accepts findings with a reason, and for a time if you want. One that accepts nothing any more is a finding itself.",
  );
  parts.push("", table(rows(root.properties!["suppress"]!, "suppress")), "");
  return parts.join("\n");
}
