/** Certificates, keys and CAs of a server: their paths, and what the contract file says of them. */
import type { ConfArgument } from "../../document/redis-conf.js";
import type { Span } from "../../text/source.js";
import type { Contract } from "../contract.js";
import { normalizePath } from "../file-path.js";
import { podFile } from "../kubernetes/pod-file.js";
import type { Server } from "../plane.js";
import type { TlsFacts } from "../settings.js";
import type { ConfValues } from "./conf.js";

export interface Material {
  readonly directive: string;
  readonly path: string;
  readonly arg: ConfArgument;
  readonly at: Span;
  readonly facts: TlsFacts | undefined;
  /** Equal for two pods that read the same content: Secret and key, else the path. */
  readonly identity: string;
}

const FILES = [
  "tls-cert-file",
  "tls-key-file",
  "tls-ca-cert-file",
  "tls-client-cert-file",
  "tls-client-key-file",
] as const;
export type MaterialKind = (typeof FILES)[number];

/** The TLS files of a server whose paths are known. */
export function materialOf(
  contract: Contract,
  server: Server,
  values: ConfValues,
): ReadonlyMap<MaterialKind, Material> {
  const out = new Map<MaterialKind, Material>();
  for (const directive of FILES) {
    const value = values.get(directive);
    const arg = value.state === "known" ? value.args[0] : undefined;
    if (arg === undefined || arg.value === "") continue;
    const path = normalizePath(arg.value);
    const identity = identityOf(contract, server, path);
    out.set(directive, { directive, path, arg, at: arg.at, facts: factsOf(contract, arg.value), identity });
  }
  return out;
}

function identityOf(contract: Contract, { plane }: Server, path: string): string {
  if (plane.container === undefined) return path;
  const { state, source } = podFile(contract, plane.container, path);
  // a volume whose content nobody declares is each pod's own
  return source ?? (state === "mounted" ? `${plane.role}:${path}` : path);
}

/** What the contract file says of the material at a path. */
export function factsOf(contract: Contract, path: string): TlsFacts | undefined {
  const { tls } = contract.config;
  if (tls === undefined) return undefined;
  const wanted = normalizePath(path);
  const key = Object.keys(tls).find((k) => normalizePath(k) === wanted);
  return key === undefined ? undefined : tls[key];
}

/** The certificate that a server shows when it dials: its client certificate where it has a pair, else its own. */
export function clientCertificate(material: ReadonlyMap<MaterialKind, Material>): Material | undefined {
  const pair = material.has("tls-client-cert-file") && material.has("tls-client-key-file");
  return material.get(pair ? "tls-client-cert-file" : "tls-cert-file");
}
