/** Container image references. https://github.com/distribution/reference */

export interface ImageReference {
  readonly text: string;
  readonly registry: string | undefined;
  /** Without registry, tag and digest. */
  readonly repository: string;
  /** Last part of the repository: `redis`, `valkey`. */
  readonly name: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

/** Splits a reference; a first part with a dot, a port or `localhost` is the registry. */
export function parseImage(text: string): ImageReference {
  let rest = text.trim();
  let digest: string | undefined;
  const at = rest.indexOf("@");
  if (at >= 0) {
    digest = rest.slice(at + 1);
    rest = rest.slice(0, at);
  }
  let tag: string | undefined;
  const colon = rest.lastIndexOf(":");
  if (colon > rest.lastIndexOf("/")) {
    tag = rest.slice(colon + 1);
    rest = rest.slice(0, colon);
  }
  const slash = rest.indexOf("/");
  const first = slash < 0 ? "" : rest.slice(0, slash);
  const registry =
    first !== "" && (first.includes(".") || first.includes(":") || first === "localhost") ? first : undefined;
  const repository = registry === undefined ? rest : rest.slice(slash + 1);
  return { text, registry, repository, name: repository.slice(repository.lastIndexOf("/") + 1), tag, digest };
}

export const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** A version that names one release: at least major.minor.patch (`7.2.4`, `7.2.4-alpine3.19`, `v1.30.2+k3s1`). */
export function isExactVersion(tag: string): boolean {
  return /^v?\d+\.\d+\.\d+(?:[-+._][0-9A-Za-z][\w.+-]*)?$/.test(tag);
}

/** The Redis or Valkey server that an image runs, as `{ flavour, version }`; undefined where the name does not say so. */
export function serverOfImage(
  image: ImageReference,
): { flavour: "redis" | "valkey"; version: string | undefined } | undefined {
  const m = /^(?:.*-)?(redis|valkey)(?:-(?:server|stack|stack-server|ha|sentinel|cluster))?$/.exec(image.name);
  if (m === null) return undefined;
  const version = /^v?(\d+(?:\.\d+){0,2})(?:[-+._]|$)/.exec(image.tag ?? "");
  return { flavour: m[1] as "redis" | "valkey", version: version?.[1] };
}

/** The images that the Redis and Valkey projects publish, from Docker Hub or a mirror that keeps their names. */
export function isOfficialImage(text: string | undefined): boolean {
  if (text === undefined) return false;
  const { registry, repository } = parseImage(text);
  const hub = registry === undefined || /^(?:index\.|registry-1\.)?docker\.io$/.test(registry);
  return (
    (hub && /^(?:redis|valkey)$/.test(repository)) || /(?:^|\/)(?:library\/redis|valkey\/valkey)$/.test(repository)
  );
}
