/** What stands at a path inside a container, as far as the manifests tell. */
import type { Contract } from "../contract.js";
import { normalizePath } from "../file-path.js";
import { asArray, asObject, asString, type Obj } from "../value.js";
import type { Mount } from "./container-parts.js";
import type { Container } from "./workload.js";

export interface PodFile {
  /**
   * `mounted`: a volume holds the path (whether the file is there is not always known). `lacks`: the volume is there and
   * certainly holds no such file. `unmounted`: no volume holds it, only the image could.
   */
  readonly state: "mounted" | "lacks" | "unmounted";
  readonly mount: Mount | undefined;
  /** `Secret/redis-tls#tls.crt`: equal for two pods that read the same; undefined where that cannot be said. */
  readonly source: string | undefined;
}

/** https://kubernetes.io/docs/concepts/storage/volumes/ (secret, configMap, projected, subPath) */
export function podFile(contract: Contract, container: Container, path: string): PodFile {
  const mount = container.mountOf(path);
  if (mount === undefined) return { state: "unmounted", mount, source: undefined };
  const unknown: PodFile = { state: "mounted", mount, source: undefined };
  const { volume } = mount;
  if (volume === undefined) return unknown;
  const below = normalizePath(path).slice(mount.mountPath.length).replace(/^\//, "");
  if (mount.subPath !== undefined && /\$\(/.test(mount.subPath)) return unknown;
  const inside = [mount.subPath ?? "", below].filter((part) => part !== "").join("/");
  // a directory, not a file
  if (inside === "") return unknown;
  const sources =
    volume.type === "projected"
      ? asArray(volume.spec["sources"]).flatMap((s) =>
          Object.entries(asObject(s)).map(([type, spec]) => ({ type, spec: asObject(spec) })),
        )
      : [{ type: volume.type, spec: volume.spec }];
  let open = false;
  let found: string | undefined;
  for (const { type, spec } of sources) {
    const held = holds(contract, container.workload.namespace, type, spec, inside);
    if (held.state === "yes") return { state: "mounted", mount, source: held.source };
    if (held.state === "maybe") {
      // of several that may hold it none is certain
      found = open ? undefined : held.source;
      open = true;
    }
  }
  return open ? { state: "mounted", mount, source: found } : { state: "lacks", mount, source: undefined };
}

interface Held {
  readonly state: "yes" | "no" | "maybe";
  readonly source: string | undefined;
}

function holds(contract: Contract, namespace: string, type: string, spec: Obj, inside: string): Held {
  const kind = type === "secret" ? "Secret" : type === "configMap" ? "ConfigMap" : undefined;
  if (kind === undefined)
    return { state: type === "downwardAPI" || type === "serviceAccountToken" ? "no" : "maybe", source: undefined };
  const name = asString(spec["secretName"]) ?? asString(spec["name"]);
  if (name === undefined) return { state: "maybe", source: undefined };
  const items = asArray(spec["items"]).map(asObject);
  const item = items.find((i) => normalizePath(asString(i["path"]) ?? "") === inside);
  if (items.length > 0 && item === undefined) return { state: "no", source: undefined };
  const key = asString(item?.["key"]) ?? inside;
  const source = `${kind}/${name}#${key}`;
  const object = contract.find(kind, namespace, name);
  // values of a tracked Secret may be filled in later; the keys of a ConfigMap are all there
  if (kind === "Secret" || object === undefined) return { state: item === undefined ? "maybe" : "yes", source };
  const there = object.has("data", key) || object.has("binaryData", key);
  return { state: there ? "yes" : spec["optional"] === true ? "maybe" : "no", source };
}
