/**
 * Fingerprints: what stays the same of a finding when lines move. Made of rule, message id, contract, file, the node's
 * path with names for indices and the offending text; never of line numbers or message texts, which releases reword.
 */
import { parseYaml, type YamlDocument } from "../document/yaml.js";
import type { Source, Span } from "../text/source.js";
import type { Diagnostic } from "./diagnostic.js";

/** The scheme; part of every fingerprint, so that another scheme cannot match by accident. */
export const FINGERPRINT_VERSION = "1";

/** Offending text beyond this does not count. */
const MAX_TEXT = 200;

/** 128 bits of text as 32 hex digits. Not cryptographic: two lanes of 64 bits with different seeds (cyrb53's mixing). */
export function hash128(text: string): string {
  return lane(text, 0x2545f491) + lane(text, 0x9e3779b9);
}

function lane(text: string, seed: number): string {
  let a = 0xdeadbeef ^ seed;
  let b = 0x41c6ce57 ^ seed;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    a = Math.imul(a ^ c, 2654435761);
    b = Math.imul(b ^ c, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (a >>> 0).toString(16).padStart(8, "0") + (b >>> 0).toString(16).padStart(8, "0");
}

/** The fingerprint of a finding. Equal findings at two places of one file may share it: count them. */
export function fingerprintOf(d: Diagnostic): string {
  const parts = [FINGERPRINT_VERSION, d.rule, d.messageId, d.contract, d.at.source.file, ...anchor(d)];
  return hash128(parts.join("\u0000"));
}

/** Fingerprints of a run, each once: the second of equal ones is told apart by its number. */
export function uniqueFingerprints(diagnostics: readonly Diagnostic[]): string[] {
  const seen = new Map<string, number>();
  return diagnostics.map((d) => {
    const fingerprint = fingerprintOf(d);
    const count = (seen.get(fingerprint) ?? 0) + 1;
    seen.set(fingerprint, count);
    return count === 1 ? fingerprint : hash128(`${fingerprint}\u0000${count}`);
  });
}

function anchor(d: Diagnostic): string[] {
  const { source } = d.at;
  if (d.pointer !== undefined) return [namedPath(source, d.at.start, d.pointer), firstLine(source.slice(d.at))];
  // outside YAML and JSON the line is the smallest thing with a meaning: a directive, a user, a statement
  return [firstLine(source.slice(d.at)), firstLine(lineOf(d.at))];
}

function lineOf(at: Span): string {
  const { source } = at;
  const { line } = source.position(at.start);
  return source.text.slice(
    source.lineStarts[line - 1]!,
    Math.max(at.start, source.lineStarts[line] ?? source.text.length),
  );
}

function firstLine(text: string): string {
  return (/\S[^\r\n]*/.exec(text.slice(0, 10 * MAX_TEXT))?.[0] ?? "").replace(/\s+/g, " ").trimEnd().slice(0, MAX_TEXT);
}

const parsed = new WeakMap<Source, readonly YamlDocument[]>();

function documentAt(source: Source, offset: number): YamlDocument | undefined {
  let documents = parsed.get(source);
  if (documents === undefined) {
    documents = parseYaml(source).documents;
    parsed.set(source, documents);
  }
  let low = 0;
  let high = documents.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (documents[middle]!.start <= offset) low = middle;
    else high = middle - 1;
  }
  const found = documents[low];
  return found !== undefined && found.start <= offset && offset <= found.end ? found : undefined;
}

/** `StatefulSet/redis-data#/spec/template/spec/containers/[redis]/env/[MODE]`: items are told by name, not by number. */
function namedPath(source: Source, offset: number, pointer: string): string {
  const document = documentAt(source, offset);
  if (document === undefined) return pointer;
  let value = document.value;
  let path = `${identityOf(value)}#`;
  for (const step of pointer.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(value)) {
      value = value[Number(key)];
      const name = nameOf(value);
      path += name === undefined ? `/${step}` : `/[${name}]`;
    } else {
      value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
      path += `/${step}`;
    }
  }
  return path;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

function own(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function identityOf(value: unknown): string {
  const metadata = own(value, "metadata");
  const parts = [own(value, "kind"), own(metadata, "namespace"), own(metadata, "name")].map(textOf);
  return parts.filter((p) => p !== undefined).join("/");
}

/** What Kubernetes and the house-made files tell list items apart by. */
const NAMES = ["name", "id", "mountPath", "ip", "topologyKey"] as const;

function nameOf(item: unknown): string | undefined {
  const scalar = textOf(item);
  if (scalar !== undefined) return scalar;
  for (const key of NAMES) {
    const name = textOf(own(item, key));
    if (name !== undefined) return name;
  }
  const identity = identityOf(item);
  return identity === "" ? undefined : identity;
}
