/** The names under which servers announce themselves, and whether certificates cover them. */
import { type ConfArgument, findPlaceholders } from "../../document/redis-conf.js";
import type { Contract } from "../contract.js";
import { hostMeaning, namespaceOf, podNameOf, whyNotOf } from "../kubernetes/pod-name.js";
import type { Workload } from "../kubernetes/workload.js";
import type { Server } from "../plane.js";
import { makeText, matches, type Piece } from "../shell/index.js";
import { numericHost } from "./conf-types.js";

/** Stands for a placeholder inside a name. */
const HOLE = "\uFFFC";

export interface NameFault {
  /** `address`: no name at all. `same`: one name for all pods. `foreign`: not the stable name of the server's own pod. */
  readonly kind: "address" | "same" | "foreign";
  readonly reason: string;
}

/** A host name as it is written. */
export type WrittenName = Pick<ConfArgument, "value" | "placeholder" | "at">;

/** The labels of a host name, a placeholder in it as a character that no name has; undefined: nothing is known of it. */
export function labelsOf({ value, placeholder }: WrittenName): readonly string[] | undefined {
  if (placeholder === "whole" || value === "") return undefined;
  let text = "";
  let p = 0;
  for (const { start, end } of placeholder === "none" ? [] : findPlaceholders(value)) {
    text += value.slice(p, start) + HOLE;
    p = end;
  }
  // a text that a script replaces, and that does not look like a placeholder
  if (placeholder === "part" && text === "") return undefined;
  return (text + value.slice(p)).toLowerCase().replace(/\.$/, "").split(".");
}

/** What is wrong with the name that a server announces; undefined: nothing, or it is not known. */
export function announcedFault(contract: Contract, server: Server, name: WrittenName): NameFault | undefined {
  const labels = labelsOf(name);
  if (labels === undefined) return undefined;
  if (name.placeholder === "none" && numericHost(name.value) !== undefined)
    return { kind: "address", reason: `${name.value} is an address; a pod gets another one when it is started again` };
  const { workload } = server.plane;
  if (workload === undefined) return undefined;
  const [first, ...rest] = labels as [string, ...string[]];
  if (!first.includes(HOLE) && shared(server, workload))
    return {
      kind: "same",
      reason: `all ${workload.replicas} pods of ${workload.title} announce themselves as ${name.value}`,
    };
  const reason = first.includes(HOLE)
    ? (whyNotOwn(workload, first, rest.length) ?? whyNotOf(contract, workload, known(rest), undefined))
    : whyNotPod(contract, workload, name.value);
  return reason === undefined ? undefined : { kind: "foreign", reason };
}

/** One configuration makes all pods of a workload. */
function shared(server: Server, workload: Workload): boolean {
  return workload.replicas !== undefined && workload.replicas > 1 && server.plane.servers.length === 1;
}

function whyNotOwn(workload: Workload, first: string, more: number): string | undefined {
  // a second placeholder may hold the rest of the name
  if (more === 0 && first.indexOf(HOLE) !== first.lastIndexOf(HOLE)) return undefined;
  if (more === 0) return `the name of a pod resolves only with its Service: ${podNameOf(workload, 0)}`;
  const prefix = first.slice(0, first.indexOf(HOLE));
  const own = `${workload.name}-`;
  return own.startsWith(prefix) || prefix.startsWith(own)
    ? undefined
    : `pods of ${workload.title} are called ${own}0 and so on`;
}

function known(rest: readonly string[]): {
  service: string | undefined;
  namespace: string | undefined;
  svc: string | undefined;
} {
  // what stands behind a placeholder that may hold several labels is not counted
  const open = rest.findIndex((label) => label.includes(HOLE));
  const label = (i: number): string | undefined => (open >= 0 && i >= open ? undefined : rest[i]);
  return { service: label(0), namespace: label(1), svc: label(2) };
}

function whyNotPod(contract: Contract, workload: Workload, host: string): string | undefined {
  const meaning = hostMeaning(contract, host, namespaceOf(contract, workload));
  if (meaning.kind === "wrong") return meaning.reason;
  if (meaning.kind === "pod")
    return meaning.workload === workload ? undefined : `that is a pod of ${meaning.workload.title}`;
  return `that is no stable name of a pod of ${workload.title}, such as ${podNameOf(workload, 0)}`;
}

/**
 * Whether a certificate's names cover a host: `*` stands for one first label. A placeholder at the start may become any label;
 * one behind it may hold dots too.
 */
export function isCovered(patterns: readonly string[], name: WrittenName): boolean {
  const labels = labelsOf(name);
  if (labels === undefined) return true;
  const text = labels.join(".");
  if (text.lastIndexOf(HOLE) > labels[0]!.indexOf(HOLE)) return patterns.some((pattern) => mayBeCovered(pattern, text));
  return patterns.some((pattern) => {
    const parts = pattern.toLowerCase().replace(/\.$/, "").split(".");
    // one placeholder may stand for the whole first part
    if (
      labels.length < parts.length &&
      labels[0] === HOLE &&
      labels.slice(1).every((l, i) => l === parts[parts.length - labels.length + 1 + i])
    )
      return true;
    return (
      parts.length === labels.length &&
      parts.every((part, i) => (part === "*" && i === 0) || labels[i]!.includes(HOLE) || part === labels[i])
    );
  });
}

function mayBeCovered(pattern: string, text: string): boolean {
  const literals = text.split(HOLE);
  const head = literals[0]!;
  const plain = pattern.toLowerCase().replace(/\.$/, "");
  const first = head.includes(".") ? head.slice(0, head.indexOf(".")) : `${head}x`;
  const wanted = plain.startsWith("*") ? first + plain.slice(1) : plain;
  const pieces = literals.flatMap((one, i): Piece[] => (i === 0 ? [one] : [{ kind: "other" }, one]));
  return matches(makeText(pieces), wanted) !== "no";
}
