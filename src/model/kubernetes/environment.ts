/** The variables that a container starts with, as far as its manifest says. */
import { expandReferences, makeText } from "../shell/index.js";
import { asArray, asObject, asString, hasToken } from "../value.js";
import type { Container } from "./workload.js";

/** Made of the Services of the namespace, which any file may add: `REDIS_SERVICE_HOST`, `REDIS_PORT_6379_TCP`. */
const OF_A_SERVICE = /_SERVICE_(?:HOST|PORT)|_PORT(?:_|$)/;

/** Values by name; undefined: set, and not known. What is not in the list may come from the image. */
export function environmentOf(container: Container): ReadonlyMap<string, string | undefined> {
  const out = new Map<string, string | undefined>();
  const more = asArray(container.spec["envFrom"]).length > 0;
  for (const { name, spec } of container.env) out.set(name, given(spec));
  return out;

  function given(spec: Container["env"][number]["spec"]): string | undefined {
    const { value } = spec;
    if (typeof value !== "string") return fromField(container, spec["valueFrom"]);
    // a reference sees only what stands before it; one to nothing stays as it is written
    const { known } = makeText(
      expandReferences(value, (name, written) => {
        if (!out.has(name) && !more && !OF_A_SERVICE.test(name)) return written;
        return out.get(name) ?? { kind: "variable", name, kubelet: true };
      }),
    );
    return known === undefined || hasToken(known) ? undefined : known;
  }
}

function fromField(container: Container, from: unknown): string | undefined {
  const field = asString(asObject(asObject(from)["fieldRef"])["fieldPath"]);
  const namespace = container.workload.ownNamespace;
  return field === "metadata.namespace" && namespace !== undefined && !hasToken(namespace) ? namespace : undefined;
}

/** Variables that hold the pod's name: those of the downward API, and the host name that the runtime gives. */
export function podNameVariables(container: Container): ReadonlySet<string> {
  const out = new Set(container.env.some(({ name }) => name === "HOSTNAME") ? [] : ["HOSTNAME"]);
  for (const { name, spec } of container.env) {
    const from = asObject(asObject(spec["valueFrom"])["fieldRef"]);
    if (from["fieldPath"] === "metadata.name") out.add(name);
  }
  return out;
}
