/** Whether a client's host and port are those of a server, and its certificate files are there. */
import type { Contract } from "../contract.js";
import { hostMeaning, namespaceOf } from "../kubernetes/pod-name.js";
import { planeListeners, servicesOf } from "../kubernetes/pod-ports.js";
import { missingFile } from "../kubernetes/pod-writes.js";
import type { Place } from "../place.js";
import { makeText, type Text } from "../shell/index.js";
import { asArray, asObject } from "../value.js";
import type { ClientCall } from "./clients.js";

/** The ports that serve a plane's clients, its Services' included; undefined: some are not known. */
export function portsFor({ target }: ClientCall, contract: Contract): ReadonlySet<number> | undefined {
  if (target === undefined) return undefined;
  const { open, known } = planeListeners(contract, target);
  if (!known || open.length === 0) return undefined;
  const ports = new Set(open.map((l) => l.port));
  for (const service of target.workload === undefined ? [] : servicesOf(contract, target.workload)) {
    for (const port of asArray(service.get("spec", "ports"))) {
      const number = asObject(port)["port"];
      if (typeof number !== "number") return undefined;
      ports.add(number);
    }
  }
  return ports;
}

/** Host names that a loop over known values makes, and that are no pod's. */
export function wrongHosts({ call, container }: ClientCall, contract: Contract): { host: string; reason: string }[] {
  const { host } = call;
  if (host === undefined || host.known !== undefined) return [];
  const from = namespaceOf(contract, container.workload);
  return namesOf(host).flatMap((name) => {
    const meaning = hostMeaning(contract, name, from);
    if (meaning.kind !== "wrong" || !(meaning.sure || contract.declared)) return [];
    return [{ host: name, reason: meaning.reason }];
  });
}

const MAX_NAMES = 16;

/** All values of a text whose only hole has known ones. */
function namesOf(text: Text): string[] {
  const holes = text.pieces.filter((piece) => typeof piece !== "string");
  const [hole] = holes;
  if (holes.length !== 1 || hole === undefined || typeof hole === "string" || hole.op !== undefined) return [];
  const { options } = hole;
  if (options === undefined || options.length > MAX_NAMES || options.some((o) => o.known === undefined)) return [];
  return options.map((option) => makeText(text.pieces.map((p) => (p === hole ? option.known! : p))).known!);
}

/** Files of the client's TLS options that are not in its container. */
export function missingMaterial(
  { call, container }: ClientCall,
  contract: Contract,
): { path: string; why: string; place: Place }[] {
  if (call.tls !== true) return [];
  return [call.cacert, call.cert, call.key].flatMap((arg) => {
    const why = arg?.known === undefined ? undefined : missingFile(contract, container, arg.known);
    return why === undefined ? [] : [{ path: arg!.known!, why, place: arg!.place }];
  });
}
