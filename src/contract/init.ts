/**
 * A first contract file from what a tree holds: what inference finds is written down as a promise, with a comment on what
 * it cannot know. Every part is checked before it is offered: one that does not hold for the tree is left out and said.
 */
import type { Contract } from "../model/contract.js";
import { parseImage, serverOfImage } from "../model/image.js";
import type { NetworkEdge } from "../model/kubernetes/network.js";
import type { Container, Workload } from "../model/kubernetes/workload.js";
import type { Plane, PlaneRole } from "../model/plane.js";
import type { RoleName } from "../model/redis/deployment.js";
import type { TextOrigin } from "../model/texts.js";
import { hasToken } from "../model/value.js";
import { type CheckOptions, check } from "./check.js";
import { CONFIG_NAMES } from "./config.js";
import { Glob } from "./glob.js";
import { basename, Fence, type Host, join } from "./host.js";
import { load, walk } from "./load.js";
import { overlayHost } from "./overlay.js";

export interface Proposal {
  /** The text of `quorumlint.yaml`; undefined where nothing was found that it could declare. */
  readonly text: string | undefined;
  /** Names of the contracts in it. */
  readonly contracts: readonly string[];
  /** How many findings a check with it has. */
  readonly findings: number;
}

const ROLES: readonly RoleName[] = ["application", "replica", "control", "peer", "discovery", "probe"];
const PLANES: readonly PlaneRole[] = ["data", "sentinel"];
/** Directories that say what kind of files they hold, not what these are about. */
const GENERIC =
  /^(?:\.|k8s|k3s|kubernetes|kube|manifests?|deploy(?:ment)?s?|base|overlays?|infra|config|configs|conf|redis-conf|templates?|rendered|out|src)$/i;
/** Longer lists are not written: nobody would read them. */
const MOST_OBJECTS = 120;
const MOST_EDGES = 40;

/** One contract to be: files that inference found together, or in directories side by side. */
interface Draft {
  readonly name: string;
  readonly sets: Contract[];
}

/** What is known of a draft only once it is read as a contract of its own. */
interface Learned {
  readonly roles: ReadonlyMap<RoleName, readonly string[]>;
  readonly peer: "superuser" | "minimal" | undefined;
  readonly edges: readonly string[] | undefined;
  readonly whyNoEdges: string;
}

/** Proposes a contract file for `root` (absolute). Reads through the host, writes nothing. */
export async function proposeContract(host: Host, root: string, options: CheckOptions): Promise<Proposal> {
  const ruleIds = options.rules.map((r) => r.id);
  const loaded = load(host, [root], { ruleIds, today: options.today });
  const drafts = draftsOf(
    loaded.roots.filter((r) => r.config === undefined).flatMap((r) => r.contracts),
    root,
  );
  if (drafts.length === 0) return { text: undefined, contracts: [], findings: 0 };
  const all = walk(host, root);
  const registry = imageRegistries(host, root, all);
  const path = join(root, CONFIG_NAMES[0]!);
  const withConfig = (text: string): Host => overlayHost(host, new Map([[path, new TextEncoder().encode(text)]]));
  const write = (learned: ReadonlyMap<string, Learned>, images: readonly string[]): string =>
    print(
      drafts.map((d) => contractLines(d, all, learned.get(d.name), images)),
      options.version,
    );
  const nothing = new Map<string, Learned>();
  let images = drafts.length === 1 && registry.length === 1 ? registry : [];
  let read = load(withConfig(write(nothing, images)), [path], { ruleIds, today: options.today });
  if (read.faults.length > 0 && images.length > 0) {
    images = [];
    read = load(withConfig(write(nothing, images)), [path], { ruleIds, today: options.today });
  }
  const learned = new Map<string, Learned>();
  for (const contract of read.roots.flatMap((r) => r.contracts)) {
    if (options.prepare !== undefined) await options.prepare(contract);
    learned.set(contract.name, learn(contract));
  }
  let text = write(learned, images);
  let run = await check(withConfig(text), [path], options);
  // edges that the policies' own reading does not confirm are not offered as a promise
  const wrong = new Set(run.result.diagnostics.filter((d) => d.rule === "network/edges").map((d) => d.contract));
  if (wrong.size > 0) {
    for (const name of wrong) {
      const known = learned.get(name);
      if (known !== undefined)
        learned.set(name, {
          roles: known.roles,
          peer: known.peer,
          edges: undefined,
          whyNoEdges: "the policies' edges could not be put into words exactly",
        });
    }
    text = write(learned, images);
    run = await check(withConfig(text), [path], options);
  }
  if (run.faults.length > 0) throw new Error(`the proposed contract file is not valid: ${run.faults.join("; ")}`);
  return { text, contracts: drafts.map((d) => d.name), findings: run.result.diagnostics.length };
}

// --------------------------------------------------------------------------------------------------------------- drafts

function draftsOf(found: readonly Contract[], root: string): Draft[] {
  const deployed = found.filter((c) => c.planes.some((p) => p.workload !== undefined));
  const loose = found.filter((c) => !deployed.includes(c) && (c.confs.length > 0 || c.acls.length > 0));
  const groups = deployed.map((c): Contract[] => [c]);
  // configurations beside the manifests that run them: joined where only one set of manifests can be meant
  const joined = new Map<Contract[], Contract[]>();
  const alone: Contract[] = [];
  for (const set of loose) {
    const home = nearest(
      set,
      groups.filter((g) => lacks(g[0]!, set)),
    );
    if (home === undefined) alone.push(set);
    else joined.set(home, [...(joined.get(home) ?? []), set]);
  }
  for (const [group, sets] of joined) {
    // several sets for one deployment are alternatives of each other: which one is meant is not ours to say
    if (sets.length === 1) group.push(...sets);
    else alone.push(...sets);
  }
  const names = new Set<string>();
  return [...groups, ...alone.map((c) => [c])].map((sets) => ({ sets, name: unique(nameOf(sets, root), names) }));
}

function lacks(manifests: Contract, set: Contract): boolean {
  return set.planes.some((own) => {
    const planes = manifests.planes.filter((p) => p.role === own.role);
    return planes.length > 0 && planes.every((p) => p.servers.length === 0);
  });
}

function nearest(set: Contract, groups: readonly Contract[][]): Contract[] | undefined {
  let best: { group: Contract[]; depth: number; tie: boolean } | undefined;
  for (const group of groups) {
    const depth = common([directoryOf(set), directoryOf(group[0]!)]).length;
    if (best === undefined || depth > best.depth) best = { group, depth, tie: false };
    else if (depth === best.depth) best.tie = true;
  }
  return best === undefined || best.tie ? undefined : best.group;
}

/** The segments of the directory that holds all files of a set. */
function directoryOf(set: Contract): readonly string[] {
  return common(set.files.map((f) => f.file.split("/").slice(0, -1)));
}

function common(paths: readonly (readonly string[])[]): readonly string[] {
  let out = paths[0] ?? [];
  for (const path of paths) {
    let same = 0;
    while (same < out.length && same < path.length && out[same] === path[same]) same++;
    out = out.slice(0, same);
  }
  return out;
}

function nameOf(sets: readonly Contract[], root: string): string {
  const path = common(sets.map(directoryOf));
  const own = [...path].reverse().find((segment) => !GENERIC.test(segment));
  return (own ?? basename(root)).replace(/[^\w.-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "") || "redis";
}

function unique(name: string, taken: Set<string>): string {
  let out = name;
  for (let i = 2; taken.has(out); i++) out = `${name}-${i}`;
  taken.add(out);
  return out;
}

function imageRegistries(host: Host, root: string, all: readonly string[]): string[] {
  const fence = new Fence(host, root);
  return all.filter((file) => {
    if (!/\.properties$/i.test(file)) return false;
    try {
      const bytes = fence.leaves(join(root, file)) ? undefined : host.read(join(root, file));
      return bytes !== undefined && /^[ \t]*redis\.minimum\.image[ \t]*[=:]/m.test(new TextDecoder().decode(bytes));
    } catch {
      return false;
    }
  });
}

// --------------------------------------------------------------------------------------------------------- what is known

function learn(contract: Contract): Learned {
  const roles = new Map<RoleName, string[]>();
  for (const { role, name, user } of contract.redis.roles) {
    if (hasToken(name)) continue;
    const known = roles.get(role) ?? [];
    if (!known.includes(name) && (user !== undefined || role !== "probe")) known.push(name);
    roles.set(role, known);
  }
  const peer = contract.redis.roleUsers("peer").find((r) => r.user !== undefined)?.user;
  return {
    roles,
    peer: peer === undefined ? undefined : peer.may("config|set") ? "superuser" : "minimal",
    ...edgesOf(contract),
  };
}

function edgesOf(contract: Contract): { edges: readonly string[] | undefined; whyNoEdges: string } {
  const none = (whyNoEdges: string): { edges: undefined; whyNoEdges: string } => ({ edges: undefined, whyNoEdges });
  if (contract.ofKind("NetworkPolicy").length === 0) return none("no NetworkPolicy limits who may talk to whom");
  const { network } = contract;
  if (network.foreign.length > 0) return none("policies of a network plugin decide with them");
  if (network.home.size !== 1) return none("the objects are in several namespaces");
  const [home] = network.home;
  const words = new Map<string, string>();
  for (const workload of contract.workloads) {
    const role = contract.planesOf(workload)[0]?.role;
    words.set(network.idOf(workload), role ?? `${workload.kind}/${workload.name}`);
  }
  const endOf = (id: string): string | undefined => {
    const own = words.get(id);
    if (own !== undefined) return own;
    if (id.endsWith("[External]")) {
      const range = id.slice(0, -"[External]".length);
      return range === "0.0.0.0-255.255.255.255"
        ? "0.0.0.0/0"
        : range === "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
          ? "::/0"
          : range;
    }
    const standIn = /^([^/]+)\/(.*)\[Unknown\]$/.exec(id);
    if (standIn === null) return undefined;
    const [, namespace, labels] = standIn as unknown as [string, string, string];
    if (namespace === "kube-system" && labels === "k8s-app=kube-dns") return "dns";
    if (namespace.startsWith("(")) return undefined;
    const pods = labels === "any pod" ? "pods()" : `pods(${labels})`;
    return namespace === home ? pods : `namespace/${namespace}/${pods}`;
  };
  const found = new Map<string, { to: string; on: string; from: Set<string> }>();
  for (const { from, to, connections } of network.graph.eachEdge({ self: true })) {
    const [source, target] = [endOf(from), endOf(to)];
    // what others do among themselves is not this contract's matter
    if (!words.has(from) && !words.has(to)) continue;
    if (source === undefined || target === undefined)
      return none("a policy lets pods in that a declaration cannot name");
    for (const on of portsOf(connections)) {
      const key = `${target}\n${on}`;
      const entry = found.get(key);
      if (entry === undefined) found.set(key, { to: target, on, from: new Set([source]) });
      else entry.from.add(source);
    }
    if (found.size > MOST_EDGES) return none("there are too many to be meant");
  }
  const everyone = [...new Set(words.values())];
  const edges: string[] = [];
  for (const { to, on, from } of found.values()) {
    const all = everyone.length > 1 && to === "dns" && everyone.every((name) => from.has(name));
    for (const source of all ? ["all"] : [...from].sort()) {
      edges.push(`{ from: ${scalar(source)}, to: ${scalar(to)}${on} }`);
    }
  }
  if (edges.length > MOST_EDGES) return none("there are too many to be meant");
  if (edges.length === 0) return none("the policies let nobody reach anybody");
  return { edges, whyNoEdges: "" };
}

/** `, port: 6379`, one text per set of protocols with the same ports. */
function portsOf(connections: NetworkEdge["connections"]): string[] {
  const byPorts = new Map<string, string[]>();
  for (const { protocol, ports } of connections) byPorts.set(ports, [...(byPorts.get(ports) ?? []), protocol]);
  return [...byPorts].map(([ports, protocols]) => {
    if (ports === "1-65535" && protocols.length === 3) return "";
    const port = /^\d+$/.test(ports) ? ports : `"${ports}"`;
    const tcp = protocols.length === 1 && protocols[0] === "TCP";
    return `, port: ${port}${tcp ? "" : `, protocol: [${protocols.join(", ")}]`}`;
  });
}

// ----------------------------------------------------------------------------------------------------------------- text

function contractLines(
  draft: Draft,
  all: readonly string[],
  learned: Learned | undefined,
  images: readonly string[],
): string[] {
  const { sets } = draft;
  const out: string[] = [`  ${scalar(draft.name)}:`, "    preset: redis-sentinel"];
  const version = lowestVersion(sets);
  if (version === undefined)
    out.push('    # redis: { minimumVersion: "7.2" }   # the server that ACLs and configurations are judged for');
  else
    out.push(
      "    # the server that ACLs and configurations are judged for: the lowest that an image names",
      `    redis: { minimumVersion: "${version}" }`,
    );
  out.push(...kubernetesLines(sets, all));
  out.push(...planeLines(sets, all));
  const roles = ROLES.flatMap((role) => {
    const names = learned?.roles.get(role) ?? [];
    if (names.length === 0) return [];
    const many = role === "application" || role === "discovery" || names.length > 1;
    return [`      ${role}: ${many ? flow(names) : scalar(names[0]!)}`];
  });
  if (roles.length > 0)
    out.push(
      "    # which ACL user plays which part; read from masteruser, auth-user, sentinel-user",
      "    roles:",
      ...roles,
    );
  out.push("    policy:");
  if (learned?.peer !== undefined) out.push(`      peer: ${learned.peer}`);
  else out.push("      peer: minimal   # or superuser: what the Sentinels' user among themselves may be");
  out.push(
    '      # commands: { app: [PING, "GET app:{tenant}:*"] }    # what a user sends: its grants are held against it',
    "      # limits: { election: 60s, recovery: 90s }",
  );
  const deployed = sets.some((c) => c.workloads.length > 0);
  if (learned?.edges !== undefined)
    out.push(
      "    # exact: every edge that the NetworkPolicies make, and no other",
      "    network:",
      "      edges:",
      ...learned.edges.map((e) => `        - ${e}`),
    );
  else if (deployed && learned !== undefined)
    out.push(`    # network: { edges: [] }   # not written: ${learned.whyNoEdges}`);
  if (images[0] !== undefined)
    out.push("    # the only place that names images", `    images: { file: ${scalar(images[0])} }`);
  const lua = sets.flatMap((c) => c.files.filter((f) => f.kind === "lua").map((f) => f.file));
  if (lua.length > 0)
    out.push(`    # programs: [{ manifest: program-set.json, scripts: ${scalar(patterns(lua, all)[0]!)}, user: app }]`);
  out.push(
    "    # tls:                     # certificates that are in no file, by the path that configurations name",
    "    #   /tls/tls.crt: { issuer: data, usage: [server, client], notAfter: 2027-06-01 }",
  );
  return out;
}

function kubernetesLines(sets: readonly Contract[], all: readonly string[]): string[] {
  const files = sets.flatMap((c) => c.files.filter((f) => f.kind === "kubernetes"));
  if (files.length === 0) return [];
  const objects = sets.flatMap((c) => c.objects);
  const out = ["    kubernetes:", '      # version: "1.32"        # the cluster: its schemas are the ones that count'];
  out.push(
    `      manifests: ${flow(
      patterns(
        files.map((f) => f.file),
        all,
      ),
    )}`,
  );
  const namespaces = new Set(objects.map((o) => o.ownNamespace).filter((n) => n !== undefined));
  const [namespace] = namespaces;
  if (namespaces.size === 1 && namespace !== undefined && !hasToken(namespace))
    out.push(`      namespace: ${scalar(namespace)}`);
  const listed = new Set<string>();
  const entries = objects.flatMap((o) => {
    const where = namespaces.size > 1 && o.ownNamespace !== undefined ? `, namespace: ${scalar(o.ownNamespace)}` : "";
    const entry = `        - { file: ${scalar(o.input.file)}, kind: ${scalar(o.kind)}, name: ${scalar(o.name)}${where} }`;
    if (listed.has(entry)) return [];
    listed.add(entry);
    return [entry];
  });
  if (entries.length > 0 && entries.length <= MOST_OBJECTS && !objects.some((o) => o.name === "" || hasToken(o.name)))
    out.push("      # exact: an object that comes along or goes away is a finding", "      inventory:", ...entries);
  const provided = new Set<string>();
  if (namespaces.size === 1 && !objects.some((o) => o.kind === "Namespace")) provided.add(`Namespace/${namespace}`);
  for (const c of sets) {
    for (const workload of c.workloads) {
      for (const ref of workload.references) {
        if (ref.optional || hasToken(ref.name) || c.madeByControllers.has(ref.name)) continue;
        if (ref.kind === "ServiceAccount" && ref.name === "default") continue;
        if (c.find(ref.kind, workload.namespace, ref.name) === undefined) provided.add(`${ref.kind}/${ref.name}`);
      }
    }
  }
  if (provided.size > 0)
    out.push(
      "      # named by pods and in no manifest: made at run time, or a slip of the pen? Take out what should be in a file.",
      "      provided:",
      ...[...provided].map((p) => `        - ${scalar(p)}`),
    );
  return out;
}

function planeLines(sets: readonly Contract[], all: readonly string[]): string[] {
  const out: string[] = [];
  for (const role of PLANES) {
    const planes = sets.flatMap((c) => c.planes.filter((p) => p.role === role));
    const run = mainWorkload(planes);
    if (run === "several") {
      out.push(`      # ${role}: several workloads run it; name the one that this contract is about`);
      continue;
    }
    const own = planes.filter((p) => p.workload === undefined || p.workload === run?.workload);
    const servers = own.flatMap((p) => p.servers);
    const config = reference(unique2(servers.map((s) => s.conf)), all);
    const acl = reference(unique2(servers.map((s) => s.acl)), all);
    const lines: string[] = [];
    if (run !== undefined) {
      lines.push(`        workload: ${scalar(`${run.workload.kind}/${run.workload.name}`)}`);
      if (run.workload.containers.filter((c) => c.kind === "container").length > 1 && run.container !== undefined)
        lines.push(`        container: ${scalar(run.container.name)}`);
    }
    if (config !== undefined) lines.push(`        config: ${scalar(config)}`);
    if (acl !== undefined) lines.push(`        acl: ${scalar(acl)}`);
    if (lines.length > 0) out.push(`      ${role}:`, ...lines);
  }
  return out.some((line) => !line.trimStart().startsWith("#")) ? ["    planes:", ...out] : out;
}

function unique2<T>(items: readonly (T | undefined)[]): T[] {
  return [...new Set(items.filter((i) => i !== undefined))];
}

/** The workload that is the plane: a StatefulSet that starts a server says so more plainly than a client with the same image. */
function mainWorkload(
  planes: readonly Plane[],
): { workload: Workload; container: Container | undefined } | "several" | undefined {
  const found = planes.filter((p): p is Plane & { workload: Workload } => p.workload !== undefined);
  if (found.length === 0) return undefined;
  const rank = (p: Plane): number => {
    const words = p.container?.entrypoint?.words.map((w) => w.text).join(" ") ?? "";
    const starts = /(?:redis|valkey)-(?:server|sentinel)\b/.test(words);
    return (
      (starts ? 4 : 0) + (p.workload?.kind === "StatefulSet" ? 2 : 0) + ((p.container?.ports.length ?? 0) > 0 ? 1 : 0)
    );
  };
  const best = Math.max(...found.map(rank));
  const top = found.filter((p) => rank(p) === best);
  const workloads = new Set(top.map((p) => p.workload));
  return workloads.size > 1 ? "several" : { workload: top[0]!.workload, container: top[0]!.container };
}

/** How a contract file names texts: `ConfigMap/name#key`, a path, or a glob that means exactly these files. */
function reference(texts: readonly TextOrigin[], all: readonly string[]): string | undefined {
  const owned = texts.filter((t) => t.owner !== undefined);
  if (owned.length > 0) return owned.length === 1 ? `ConfigMap/${owned[0]!.owner!.name}#${owned[0]!.key}` : undefined;
  const names = patterns(
    texts.map((t) => t.input.file),
    all,
  );
  return names.length === 1 ? names[0] : undefined;
}

/** As few patterns as say exactly `files` among all files: a glob per directory where it says no other file. */
function patterns(files: readonly string[], all: readonly string[]): string[] {
  const wanted = new Set(files);
  const out: string[] = [];
  const left = new Set(wanted);
  for (const file of [...wanted].sort()) {
    if (!left.has(file)) continue;
    left.delete(file);
    const slash = file.lastIndexOf("/");
    const glob = new Glob(`${plain(file.slice(0, slash + 1))}*${/\.\w+$/.exec(file)?.[0] ?? ""}`);
    const mates = all.filter((f) => glob.matches(f));
    if (mates.length > 1 && mates.every((f) => wanted.has(f))) {
      for (const f of mates) left.delete(f);
      out.push(glob.pattern);
    } else out.push(plain(file));
  }
  if (out.length < 2) return out;
  // data-0/redis.conf, data-1/redis.conf …
  const split = [...wanted].map((f) => f.split("/"));
  const depth = split[0]!.length;
  if (split.every((s) => s.length === depth)) {
    const merged = split[0]!
      .map((segment, i) => (split.every((s) => s[i] === segment) ? plain(segment) : "*"))
      .join("/");
    const glob = new Glob(merged);
    const mates = all.filter((f) => glob.matches(f));
    if (mates.length === wanted.size && mates.every((f) => wanted.has(f))) return [merged];
  }
  return out;
}

/** A path as a pattern for itself: characters that globs give a meaning to are "any character". */
function plain(path: string): string {
  return path.replace(/[*?[\]{}]/g, "?");
}

function lowestVersion(sets: readonly Contract[]): string | undefined {
  let lowest: { parts: readonly number[]; text: string } | undefined;
  for (const plane of sets.flatMap((c) => c.planes)) {
    const image = plane.container?.image;
    if (image === undefined || hasToken(image)) continue;
    const server = serverOfImage(parseImage(image));
    if (server?.version === undefined) continue;
    const parts = server.version.split(".").map(Number);
    if (parts.length < 2) continue;
    const text = `${server.flavour === "valkey" ? "valkey-" : ""}${parts[0]}.${parts[1]}`;
    const lower =
      lowest === undefined ||
      parts[0]! < lowest.parts[0]! ||
      (parts[0] === lowest.parts[0] && parts[1]! < lowest.parts[1]!);
    if (lower) lowest = { parts, text };
  }
  return lowest?.text;
}

function flow(items: readonly string[]): string {
  const one = `[${items.map(scalar).join(", ")}]`;
  return one;
}

/** A YAML scalar that reads as this text, also inside `{ }` and `[ ]`. */
function scalar(text: string): string {
  const plainText =
    /^[A-Za-z_.][\w./#()=*?-]*$/.test(text) &&
    !/^(?:true|false|yes|no|on|off|y|n|null|~|\.nan|\.inf)$/i.test(text) &&
    !/^\.?\d/.test(text);
  return plainText ? text : JSON.stringify(text);
}

function print(contracts: readonly (readonly string[])[], version: string): string {
  return `${[
    `# Written by quorumlint init (${version}) from what the files say; read it before you trust it: it is a promise now.`,
    "# Every key: https://github.com/quorumlint/quorumlint/blob/main/docs/contract-file.md",
    "# yaml-language-server: $schema=https://raw.githubusercontent.com/quorumlint/quorumlint/main/schemas/contract.schema.json",
    "version: 1",
    "contracts:",
    ...contracts.flat(),
    "# rules: { k8s/resources: warning }        # off | info | warning | error",
    "# suppress: [{ rule: k8s/exec-probe, file: k8s/redis.yaml, reason: why it is right here, until: 2027-01-31 }]",
  ].join("\n")}\n`;
}
