/**
 * Catalogs of scripts in JSON that are no program sets: any object that names a `.lua` file beside a digest, a number of
 * keys or a user. Only what such an entry says is judged.
 */
import type { JsonDocument, JsonNode } from "../../document/json.js";
import type { Span } from "../../text/source.js";
import type { Located } from "./manifest.js";

export interface CatalogEntry {
  /** The key that the entry stands under, or the name of its file. */
  readonly name: string;
  readonly file: Located<string>;
  readonly digests: readonly Located<string>[];
  readonly numberOfKeys: Located<number> | undefined;
  readonly user: Located<string> | undefined;
  readonly at: Span;
}

const DIGEST_NAME = /^(?:sha|sha[-_]?1|sha[-_]?256|digest|hash|checksum)$/i;
const COUNT_NAME = /^(?:numberOfKeys|number_of_keys|numKeys|num_keys|numkeys|keyCount|key_count|keys)$/i;
const FILE_NAME = /^(?:file|fileName|filename|path|script|source|src|lua)$/i;
const MAX_ENTRIES = 10_000;

/** The entries of a document, in its order. */
export function catalogEntries(document: JsonDocument): readonly CatalogEntry[] {
  const { root, view } = document;
  const out: CatalogEntry[] = [];
  if (root === undefined || document.errors.length > 0) return out;
  const span = (n: JsonNode): Span => view.span(n.offset, n.offset + n.length);
  const open: { node: JsonNode; name: string }[] = [{ node: root, name: "" }];
  while (open.length > 0 && out.length < MAX_ENTRIES) {
    const { node, name } = open.pop()!;
    if (node.type === "array") {
      for (const child of [...(node.children ?? [])].reverse()) open.push({ node: child, name });
      continue;
    }
    if (node.type !== "object") continue;
    let file: Located<string> | undefined;
    let user: Located<string> | undefined;
    let numberOfKeys: Located<number> | undefined;
    const digests: Located<string>[] = [];
    const inner: { node: JsonNode; name: string }[] = [];
    for (const property of node.children ?? []) {
      const [key, value] = property.children ?? [];
      if (key === undefined || value === undefined) continue;
      const field = String(key.value);
      if (value.type === "string") {
        const text = String(value.value);
        if (/\.lua$/i.test(text) && FILE_NAME.test(field)) file ??= { value: text, at: span(value) };
        else if (/\.lua$/i.test(field) && isDigest(text)) {
          out.push({
            name: field,
            file: { value: field, at: span(key) },
            digests: [{ value: text, at: span(value) }],
            numberOfKeys: undefined,
            user: undefined,
            at: span(property),
          });
        } else if (DIGEST_NAME.test(field) && isDigest(text)) digests.push({ value: text, at: span(value) });
        else if (field === "user") user = { value: text, at: span(value) };
      } else if (value.type === "number" && COUNT_NAME.test(field)) {
        numberOfKeys = { value: Number(value.value), at: span(value) };
      } else inner.push({ node: value, name: field });
    }
    if (file !== undefined) out.push({ name: name || file.value, file, digests, numberOfKeys, user, at: span(node) });
    open.push(...inner.reverse());
  }
  return out.sort((a, b) => a.at.start - b.at.start);
}

function isDigest(text: string): boolean {
  return /^(?:sha1[-:]|sha256[-:])?(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(text);
}

/** A JSON object that has the shape of a program set, however incomplete. */
export function isProgramSet(document: JsonDocument): boolean {
  const programs = member(document.root, "programs");
  if (programs?.type !== "array") return false;
  return (programs.children ?? []).some(
    (p) =>
      member(p, "id") !== undefined && (member(p, "keys")?.type === "array" || member(p, "commands") !== undefined),
  );
}

function member(node: JsonNode | undefined, name: string): JsonNode | undefined {
  if (node?.type !== "object") return undefined;
  return node.children?.find((p) => p.children?.[0]?.value === name)?.children?.[1];
}
