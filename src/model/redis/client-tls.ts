/** Whether a client's TLS options fit the servers that it talks to. */
import type { Contract } from "../contract.js";
import type { Plane } from "../plane.js";
import type { RedisCall } from "../shell/index.js";

export type TlsFault = "plaintext" | "tls" | "ca" | "certificate" | "usage";

export function tlsFaults(call: RedisCall, target: Plane, contract: Contract): TlsFault[] {
  const mode = listens(target, contract);
  if (mode === undefined || call.uncertain) return [];
  const out: TlsFault[] = [];
  if (call.tls === false && mode.plain === false && mode.tls === true) out.push("plaintext");
  if (call.tls !== true) return out;
  if (mode.tls === false) out.push("tls");
  else if (call.cacert === undefined && call.cacertdir === undefined && !call.insecure) out.push("ca");
  if (mode.tls === true && mode.clients === "yes" && (call.cert === undefined || call.key === undefined))
    out.push("certificate");
  const path = call.cert?.known;
  const usage = path === undefined ? undefined : contract.config.tls?.[path]?.usage;
  if (mode.clients !== "no" && usage !== undefined && !usage.includes("client")) out.push("usage");
  return out;
}

/** What the servers of a plane listen on, where it is known; undefined where nothing is. */
function listens(
  plane: Plane,
  contract: Contract,
): { plain: boolean | undefined; tls: boolean | undefined; clients: string | undefined } | undefined {
  const values = plane.servers.map((s) => contract.redis.load(s)?.values).find((v) => v !== undefined);
  if (values === undefined) return undefined;
  const port = values.number("port");
  const tls = values.number("tls-port");
  const clients = values.get("tls-auth-clients");
  return {
    plain: port === undefined ? undefined : port !== 0,
    tls: tls === undefined ? undefined : tls !== 0,
    clients: clients.state === "known" ? clients.value : undefined,
  };
}
