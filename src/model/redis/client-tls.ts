/** Whether a client's TLS options fit the servers that it talks to. */
import type { Contract } from "../contract.js";
import type { Probe } from "../kubernetes/container-parts.js";
import type { Place } from "../place.js";
import type { Plane } from "../plane.js";
import type { RedisCall } from "../shell/index.js";
import { asNumber } from "../value.js";
import type { ClientCall } from "./clients.js";

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

/** A packet that is lost is sent again after this time. https://www.rfc-editor.org/rfc/rfc6298 */
const RETRANSMISSION = 1;

/**
 * What leaves a probe no more time than one retransmission takes for a TLS connection: its `timeoutSeconds` (the API server's
 * default is 1, also for 0), or `timeout` before the client. undefined: enough, or not known.
 */
export function hurriedCall(
  probe: Probe,
  calls: readonly ClientCall[],
): { readonly time: number; readonly at: Place } | undefined {
  const encrypted = calls.filter(({ call, target }) => target !== undefined && call.tls === true);
  if (encrypted.length === 0) return undefined;
  const written = probe.spec["timeoutSeconds"];
  const time = written === undefined || written === null ? 1 : asNumber(written) || (written === 0 ? 1 : undefined);
  if (time !== undefined && time <= RETRANSMISSION)
    return { time, at: written === undefined ? probe.missing("timeoutSeconds") : probe.at("timeoutSeconds") };
  for (const { call } of encrypted) {
    for (const wrapper of call.invocation.wrappers) {
      const own = /^(\d+(?:\.\d+)?)s?$/.exec(wrapper.timeout?.known ?? "");
      if (own !== null && Number(own[1]) > 0 && Number(own[1]) <= RETRANSMISSION)
        return { time: Number(own[1]), at: call.invocation.place };
    }
  }
  return undefined;
}
