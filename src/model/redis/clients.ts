/** Commands that probes, hooks and scripts send to the contract's servers: to whom, as whom. */
import type { Contract } from "../contract.js";
import type { Command, Container } from "../kubernetes/workload.js";
import type { Plane } from "../plane.js";
import { type RedisCall, redisCallsOf, show } from "../shell/index.js";
import { asArray, asObject } from "../value.js";
import type { AclUser } from "./acl.js";

/** One call of redis-cli from a container of the contract. */
export interface ClientCall {
  readonly call: RedisCall;
  readonly command: Command;
  readonly container: Container;
  /** The plane that it talks to; undefined: not known. */
  readonly target: Plane | undefined;
  /** `default` without `--user`; undefined: not known. */
  readonly user: string | undefined;
  /** Whether a password is given: by the script, or by `REDISCLI_AUTH` of the container; undefined: not known. */
  readonly authenticates: boolean | undefined;
}

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|localhost|::1|\[::1\]|0\.0\.0\.0)$/;

export function clientCalls(command: Command, contract: Contract): ClientCall[] {
  const { container } = command;
  return redisCallsOf(contract.shell.program(command)).map((call) => ({
    call,
    command,
    container,
    target: targetOf(call, container, contract),
    user: call.user === undefined ? (call.uncertain ? undefined : "default") : call.user.known,
    authenticates: authenticates(call, container),
  }));
}

function authenticates(call: RedisCall, container: Container): boolean | undefined {
  if (call.auth !== undefined || call.askpass) return true;
  if (container.env.some((e) => e.name === "REDISCLI_AUTH" || e.name === "VALKEYCLI_AUTH")) return true;
  const imports = asArray(container.spec["envFrom"]).some(
    (e) => asObject(e)["secretRef"] !== undefined || asObject(e)["configMapRef"] !== undefined,
  );
  return imports || call.uncertain ? undefined : false;
}

/** By host name: this pod, or a pod or Service of a plane; by the plane's own container where no host is given. */
function targetOf(call: RedisCall, container: Container, contract: Contract): Plane | undefined {
  const host = call.host === undefined ? undefined : show(call.host);
  const port = call.port?.known;
  if (host === undefined || LOOPBACK.test(host) || /^\$\{?(?:HOSTNAME|POD_NAME|POD_IP)\}?$/.test(host)) {
    const own = contract.planesOf(container.workload);
    if (own.length <= 1) return own[0];
    return (
      own.find((p) => p.container === container) ?? own.find((p) => port === (p.role === "sentinel" ? "26379" : "6379"))
    );
  }
  const labels = host.split(".");
  const matching = contract.planes.filter((plane) => {
    const { workload } = plane;
    if (workload === undefined) return false;
    const service = String(workload.get("spec", "serviceName") ?? "");
    return (
      labels.includes(service) || labels.includes(workload.name) || labels[0]?.startsWith(`${workload.name}-`) === true
    );
  });
  if (matching.length === 1) return matching[0];
  if (matching.length > 1 && port !== undefined)
    return matching.find((p) => port === (p.role === "sentinel" ? "26379" : "6379"));
  return undefined;
}

/** Whether a plane lets nobody in without a password; undefined: not known. */
export function demandsAuth(plane: Plane, contract: Contract): boolean | undefined {
  let known: boolean | undefined = false;
  for (const server of plane.servers) {
    const values = contract.redis.load(server)?.values;
    const acl = server.acl === undefined ? undefined : contract.redis.acl(server.acl, plane.role);
    const fallback = acl?.users.get("default");
    if (fallback !== undefined && !fallback.implicit) {
      if (!fallback.enabled || !fallback.nopass) return true;
      continue;
    }
    const required = values?.isSet("requirepass");
    if (required === true && values?.isSet("aclfile") !== true) return true;
    if (required === undefined && values !== undefined && !values.complete) known = undefined;
  }
  return plane.servers.length === 0 ? undefined : known;
}

/** The users of a name in a plane's ACLs; undefined members: an ACL without that user. */
export function usersOf(
  plane: Plane,
  name: string,
  contract: Contract,
): readonly { readonly user: AclUser | undefined; readonly complete: boolean }[] {
  return plane.servers.flatMap((server) => {
    if (server.acl === undefined) return [];
    const load = contract.redis.acl(server.acl, plane.role);
    return [{ user: load.users.get(name), complete: load.ok && load.unknownLines.length === 0 }];
  });
}
