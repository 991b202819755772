/** Where the files of a contract name hosts: whom Sentinels watch, whom replicas follow, and pods that scripts mention. */
import type { Span } from "../../text/source.js";
import type { Contract } from "../contract.js";
import type { Place } from "../place.js";
import type { Plane, Server } from "../plane.js";
import { confDocument } from "../redis/deployment.js";
import type { TextOrigin } from "../texts.js";
import { hostMeaning, namespaceOf } from "./pod-name.js";

export interface HostUse {
  readonly host: string;
  readonly at: Span | Place;
  /** The namespace in which the name is looked up; undefined: not known. */
  readonly from: string | undefined;
  /** `monitor`: Sentinels watch it. `primary`: replicas follow it. `mention`: a script or a variable names it. */
  readonly role: "monitor" | "primary" | "mention";
  /** The configuration that names it. */
  readonly server: Server | undefined;
}

export function hostUses(contract: Contract): readonly HostUse[] {
  const out: HostUse[] = [];
  for (const plane of contract.planes) for (const server of plane.servers) out.push(...ofConf(contract, plane, server));
  for (const script of contract.scripts) out.push(...ofScript(contract, script));
  for (const workload of contract.workloads) {
    const from = namespaceOf(contract, workload);
    for (const container of workload.containers) {
      container.env.forEach(({ spec, path }) => {
        const { value } = spec;
        if (typeof value !== "string" || !value.includes(".")) return;
        for (const { host, whole } of podLikeNames(value)) {
          out.push({
            host,
            at: workload.at(...path, "value"),
            from: whole ? from : undefined,
            role: "mention",
            server: undefined,
          });
        }
      });
    }
  }
  return out;
}

function ofConf(contract: Contract, plane: Plane, server: Server): HostUse[] {
  const load = contract.redis.load(server);
  if (load === undefined || server.conf === undefined) return [];
  const from = plane.workload === undefined ? undefined : namespaceOf(contract, plane.workload);
  const out: HostUse[] = [];
  for (const { host } of load.sentinel?.masters.values() ?? [])
    if (host.placeholder === "none") out.push({ host: host.value, at: host.at, from, role: "monitor", server });
  // what the template says; what scripts add is read where they say it
  const lines = confDocument(server.conf).lines.filter((l) => /^(?:replicaof|slaveof)$/.test(l.name) && !l.conditional);
  const host = lines.at(-1)?.args[0];
  if (host !== undefined && host.placeholder === "none" && host.value !== "" && !/^no$/i.test(host.value))
    out.push({ host: host.value, at: host.at, from, role: "primary", server });
  return out;
}

/** One use for each name of a script: the first. */
function ofScript(contract: Contract, script: TextOrigin): HostUse[] {
  const from = script.owner === undefined ? undefined : namespaceOf(contract, script.owner);
  const seen = new Set<string>();
  const out: HostUse[] = [];
  for (const { host, start, end, whole, followed } of podLikeNames(script.view.text)) {
    const role = followed ? "primary" : "mention";
    const key = `${role} ${host}`;
    if (seen.has(key)) continue;
    seen.add(key);
    out.push({ host, at: script.view.span(start, end), from: whole ? from : undefined, role, server: undefined });
  }
  return out;
}

interface Found {
  readonly host: string;
  readonly start: number;
  readonly end: number;
  /** false: a variable goes on behind it. */
  readonly whole: boolean;
  /** It stands behind `replicaof` or `slaveof`. */
  readonly followed: boolean;
}

const LONGEST_NAME = 253;

/** Texts of the form `<name>-<number>.<name>…` outside of comments; a name that begins with a variable is none. */
function podLikeNames(text: string): Found[] {
  const out: Found[] = [];
  for (const m of text.matchAll(/[A-Za-z0-9.-]+/g)) {
    const [word] = m;
    const start = m.index;
    if (word.length > LONGEST_NAME || !/^[a-z0-9]/.test(word) || !word.includes(".")) continue;
    if (/[\w$})%@{]/.test(text[start - 1] ?? " ") || isComment(text, start)) continue;
    const next = text[start + word.length] ?? " ";
    const whole = !/[$_%@{(]/.test(next);
    // a label that a variable completes is not known
    const host = whole ? word.replace(/[.-]+$/, "") : word.slice(0, Math.max(0, word.lastIndexOf(".")));
    if (!/^[a-z0-9-]*[a-z0-9]-(?:0|[1-9]\d*)\.[a-z0-9]/.test(host)) continue;
    const before = text.slice(Math.max(0, start - 24), start);
    out.push({
      host,
      start,
      end: start + host.length,
      whole,
      followed: /(?:replicaof|slaveof)["']?[ \t]+["']?$/i.test(before),
    });
  }
  return out;
}

function isComment(text: string, at: number): boolean {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return /^[ \t]*#/.test(line);
}

/** A template that all pods of a workload read: whether it makes each of them a replica of one of them. */
export function followsItself(contract: Contract, { server, host, from }: HostUse): boolean {
  if (server?.conf === undefined) return false;
  const { plane } = server;
  const meaning = hostMeaning(contract, host, from);
  const line = confDocument(server.conf).lines.find((l) => /^(?:replicaof|slaveof)$/.test(l.name));
  if (line === undefined || line.conditional || plane.servers.length !== 1) return false;
  return meaning.kind === "pod" && meaning.workload === plane.workload && plane.workload.replicas !== 1;
}
