/** Commands that probes, hooks and scripts send to the contract's servers: to whom, as whom. */
import type { Contract } from "../contract.js";
import type { Command } from "../kubernetes/container-parts.js";
import { planeListeners } from "../kubernetes/pod-ports.js";
import type { Container } from "../kubernetes/workload.js";
import { PLANE_PORT, type Plane } from "../plane.js";
import {
  contentOf,
  type RedisCall,
  type RedisCommand,
  redisCalls,
  redisCallsOf,
  runsOf,
  show,
  type Text,
} from "../shell/index.js";
import { asArray, asObject } from "../value.js";
import type { AclUser } from "./acl.js";
import { pathIn } from "./config-home.js";

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
  // an entry with neither value is an empty text, and no password
  const given = container.env.some(
    ({ name, spec }) =>
      (name === "REDISCLI_AUTH" || name === "VALKEYCLI_AUTH") &&
      (spec["valueFrom"] !== undefined || (spec["value"] !== undefined && spec["value"] !== null)),
  );
  if (given) return true;
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
    // the containers of a pod share one address: the port says which server it is
    const asked = port ?? (call.port === undefined && !call.uncertain ? "6379" : undefined);
    if (asked === undefined) return undefined;
    const serving = own.filter((p) => planeListeners(contract, p).open.some((l) => String(l.port) === asked));
    if (serving.length === 1) return serving[0];
    return own.find((p) => asked === String(PLANE_PORT[p.role])) ?? own.find((p) => p.container === container);
  }
  const labels = host.split(".");
  if (call.host !== undefined && call.host.known === undefined) {
    const asked = discoveredBy(call.host, container, contract);
    if (asked !== undefined) return asked;
  }
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

/**
 * The data plane whose primary a host is: the answer of `SENTINEL GET-MASTER-ADDR-BY-NAME`, taken from a variable or from a
 * file that a script of the pod wrote it to.
 */
function discoveredBy(host: Text, container: Container, contract: Contract): Plane | undefined {
  const data = contract.planes.filter((p) => p.role === "data");
  if (data.length !== 1) return undefined;
  const runs = runsOf(host);
  for (const path of filesIn(host)) {
    const mount = container.mountOf(path);
    for (const other of container.workload.containers) {
      const own = pathIn(other, container, mount, path);
      if (own === undefined || other.entrypoint === undefined) continue;
      for (const { content } of contentOf(contract.shell.program(other.entrypoint), own).variants)
        for (const segment of content ?? [])
          if (segment.kind === "lines") for (const line of segment.lines) runs.push(...runsOf(line));
    }
  }
  const asks = runs.some((run) => redisCalls(run).some((c) => c.commands?.some(isDiscovery) === true));
  return asks ? data[0] : undefined;
}

function isDiscovery(command: RedisCommand): boolean {
  return command[1]?.known?.toLowerCase() === "get-master-addr-by-name";
}

/** Files whose text is part of a text. */
function filesIn(text: Text, depth = 0): string[] {
  return text.pieces.flatMap((piece) => {
    if (typeof piece === "string") return [];
    const inner = depth > 3 ? [] : (piece.options ?? []).flatMap((option) => filesIn(option, depth + 1));
    return piece.file?.known === undefined ? inner : [piece.file.known, ...inner];
  });
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
