/** Where a server's configuration file lives, whether the server can rewrite it there, and how it gets there. */
import type { Contract } from "../contract.js";
import { normalizePath } from "../file-path.js";
import type { Command, Mount } from "../kubernetes/container-parts.js";
import type { Container } from "../kubernetes/workload.js";
import type { Place } from "../place.js";
import type { Plane } from "../plane.js";
import { type CopyOnce, copyOnce, hurries, serverStarts, show, type Wait, waitsOf } from "../shell/index.js";

/** What keeps a server from rewriting its file: a temporary file beside it, then a rename over it. */
export type Obstacle = "readonly-volume" | "readonly-mount" | "single-file" | "readonly-root";

export interface ConfigHome {
  readonly container: Container;
  /** Absolute path in the server's container. */
  readonly path: string;
  /** The word of the command that names it. */
  readonly place: Place;
  readonly mount: Mount | undefined;
  readonly obstacle: Obstacle | undefined;
  /** `claim`: a claim per pod; `shared`: one for all; `volatile`: an emptyDir or the container's own filesystem. */
  readonly kind: "claim" | "shared" | "volatile" | "readonly" | "unknown";
  readonly seeds: readonly Seed[];
}

/** What one container of the pod does to the file. */
export interface Seed {
  readonly command: Command;
  readonly container: Container;
  readonly verdict: CopyOnce;
}

const READONLY_VOLUMES = new Set(["configMap", "secret", "projected", "downwardAPI", "image"]);

/** undefined where the command line does not say which file the server starts with. */
export function configHome(plane: Plane, contract: Contract): ConfigHome | undefined {
  const { homes } = contract.shell;
  if (!homes.has(plane)) homes.set(plane, findHome(plane, contract));
  return homes.get(plane);
}

function findHome(plane: Plane, contract: Contract): ConfigHome | undefined {
  const { container, workload } = plane;
  const command = container?.entrypoint;
  if (container === undefined || workload === undefined || command === undefined) return undefined;
  const starts = serverStarts(contract.shell.program(command), !command.explicit);
  const config =
    starts.find((s) => (plane.role === "sentinel") === (s.mode === "sentinel" || isSentinel(s)))?.config ??
    starts[0]?.config;
  const written = config?.known;
  if (config === undefined || written === undefined || !written.startsWith("/")) return undefined;
  const path = normalizePath(written);
  const mount = container.mountOf(path);
  const obstacle = obstacleOf(container, mount, path);
  return {
    container,
    path,
    place: config.place,
    mount,
    obstacle,
    kind: obstacle !== undefined ? "readonly" : kindOf(mount, workload.replicas),
    seeds: seedsOf(plane, contract, mount, path),
  };
}

function isSentinel(start: { readonly overrides: readonly { readonly name: string }[] }): boolean {
  return start.overrides.some((o) => o.name === "sentinel");
}

function obstacleOf(container: Container, mount: Mount | undefined, path: string): Obstacle | undefined {
  if (mount === undefined) {
    return container.security("readOnlyRootFilesystem", false).value === true ? "readonly-root" : undefined;
  }
  if (mount.volume !== undefined && READONLY_VOLUMES.has(mount.volume.type)) return "readonly-volume";
  if (mount.readOnly) return "readonly-mount";
  // a mount of the file itself cannot be renamed over
  return mount.subPath !== undefined && mount.mountPath === path ? "single-file" : undefined;
}

function kindOf(mount: Mount | undefined, replicas: number | undefined): ConfigHome["kind"] {
  switch (mount?.volume?.type) {
    case undefined:
      return mount === undefined ? "volatile" : "unknown";
    case "claimTemplate":
    case "ephemeral":
      return "claim";
    case "persistentVolumeClaim":
      return replicas === 1 ? "claim" : "shared";
    case "emptyDir":
      return "volatile";
    default:
      return "unknown";
  }
}

/** The file by another container's eyes: the same volume may be mounted elsewhere there. */
export function pathIn(
  other: Container,
  container: Container,
  mount: Mount | undefined,
  path: string,
): string | undefined {
  if (other === container) return path;
  if (mount === undefined) return undefined;
  const inside = path.slice(mount.mountPath.length).replace(/^\//, "");
  const volumePath = normalizePath(`${mount.subPath ?? ""}/${inside}`);
  for (const own of other.mounts) {
    if (own.name !== mount.name) continue;
    const sub = normalizePath(own.subPath ?? "");
    if (sub !== "" && !`${volumePath}/`.startsWith(`${sub}/`) && !`${volumePath}/`.startsWith(`/${sub}/`)) continue;
    const rest = volumePath.replace(/^\//, "").slice(sub.replace(/^\//, "").length).replace(/^\//, "");
    return normalizePath(`${own.mountPath}/${rest}`);
  }
  return undefined;
}

function seedsOf(plane: Plane, contract: Contract, mount: Mount | undefined, path: string): Seed[] {
  const out: Seed[] = [];
  const { container, workload } = plane;
  for (const other of workload!.containers) {
    const command = other.entrypoint;
    if (command === undefined || (other.kind !== "init" && other !== container)) continue;
    const own = pathIn(other, container!, mount, path);
    if (own === undefined) continue;
    const verdict = copyOnce(contract.shell.program(command), own);
    if (verdict.kind !== "none") out.push({ command, container: other, verdict });
  }
  return out;
}

/** One loop that waits before a server starts, with the hosts that it waits for. */
export interface StartupWait {
  readonly wait: Wait;
  readonly hosts: readonly string[];
  /** Its attempts follow each other at once. */
  readonly hasty: boolean;
  readonly container: Container;
}

/** Loops of a plane's pod that wait before its server starts; `complete`: there can be no others. */
export function startupWaits(
  plane: Plane,
  contract: Contract,
): { readonly waits: readonly StartupWait[]; readonly complete: boolean } {
  const { container, workload } = plane;
  const waits: StartupWait[] = [];
  let complete = container?.entrypoint !== undefined;
  for (const other of workload?.containers ?? []) {
    if (other.kind !== "init" && other !== container) continue;
    if (other.entrypoint === undefined) {
      // the image's own entrypoint may wait
      complete = false;
      continue;
    }
    const program = contract.shell.program(other.entrypoint);
    complete &&= program.complete;
    for (const wait of waitsOf(program)) {
      const hasty = wait.loop.type === "loop" && hurries(program, wait.loop);
      waits.push({ wait, hosts: wait.hosts.map(show), hasty, container: other });
    }
  }
  return { waits, complete };
}
