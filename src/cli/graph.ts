/** `quorumlint graph`: who may talk to whom under the NetworkPolicies of a contract, or of any manifests. */
import { isAbsolute, join, relative } from "node:path";
import { rules } from "../../rules/index.js";
import { isTemplateSource } from "../contract/classify.js";
import { CONFIG_NAMES } from "../contract/config.js";
import { basename, type Host, join as joinPath, relativeTo } from "../contract/host.js";
import { load, Reader } from "../contract/load.js";
import { memoryHost } from "../contract/memory.js";
import type { YamlDocument } from "../document/yaml.js";
import { buildContract } from "../model/build.js";
import type { Contract } from "../model/contract.js";
import type { InputFile } from "../model/input.js";
import { PROTOCOLS, type Protocol } from "../model/kubernetes/connections.js";
import { DNS, parseEnd } from "../model/kubernetes/declared-edges.js";
import { buildNetwork, type Explanation, type NetworkEdge, type NetworkEngine } from "../model/kubernetes/network.js";
import { networkInputFromObjects, type PolicyHandle, type RawObject } from "../model/kubernetes/network-input.js";
import { knownEdges, withStandIns } from "../model/kubernetes/network-standin.js";
import { labelsOf, matches } from "../model/kubernetes/selector.js";
import { NodePlace } from "../model/place.js";
import { diffEdges, diffGraphs, diffJson } from "../reporter/graph/diff.js";
import { graphDot } from "../reporter/graph/dot.js";
import { explainJson, explainText, type PlaceOf } from "../reporter/graph/explain.js";
import { graphJsonChunks } from "../reporter/graph/json.js";
import { graphMermaid } from "../reporter/graph/mermaid.js";
import { graphSvg } from "../reporter/graph/svg.js";
import { diffText, graphTextChunks, printable } from "../reporter/graph/text.js";
import { byText, type EdgeStatus, type GraphView, graphView } from "../reporter/graph/view.js";
import { didYouMean } from "../text/similar.js";
import type { Span } from "../text/source.js";
import { absolute } from "./check.js";
import { disk } from "./disk.js";
import { type Colours, clock, colorOption, note, palette } from "./output.js";
import { UsageError } from "./usage.js";

export interface GraphFlags {
  readonly format: "text" | "json" | "dot" | "mermaid" | "svg";
  readonly self?: boolean;
  readonly diff?: string;
  readonly explain?: readonly string[];
  readonly config?: string;
  readonly stdinFilename?: string;
  readonly color?: boolean;
}

/** One network: a declared contract's, or that of all manifests below a path. */
interface Network {
  readonly title: string;
  /** Workloads of the files only: what the JSON form lists. */
  readonly plain: NetworkEngine;
  /** With stand-ins for pods that only policies name. */
  readonly full: NetworkEngine;
  readonly planes: ReadonlyMap<string, readonly string[]>;
  /** Edges with their standing to the declaration, where there is one. */
  readonly standings: readonly (NetworkEdge & { readonly status: EdgeStatus })[] | undefined;
  readonly placeOf: PlaceOf;
}

/** More edges than this are for machines: the JSON form is written piece by piece, others are made in memory. */
const MOST_EDGES = 400_000;

export async function graphCommand(path: string | undefined, flags: GraphFlags): Promise<number> {
  const { explain, rest } = explainArguments(flags.explain);
  if (rest.length > (path === undefined ? 1 : 0)) throw new UsageError(`unexpected argument "${rest[0]}"`);
  const target = path ?? rest[0] ?? ".";
  if (flags.diff !== undefined && explain !== undefined)
    throw new UsageError("--diff and --explain exclude each other");
  if (flags.diff === "-" && target === "-") throw new UsageError("standard input can be read once only");
  const networks = await read(target, flags);
  if (explain !== undefined) {
    if (flags.format !== "text" && flags.format !== "json")
      throw new UsageError(`--explain prints text or json, not ${flags.format}`);
    const [explanation, network] = explainIn(networks, explain);
    const { placeOf } = network;
    await write([flags.format === "json" ? explainJson(explanation, placeOf) : explainText(explanation, placeOf)]);
    return 0;
  }
  if (flags.diff !== undefined) await printDiff(await read(flags.diff, flags), networks, flags);
  else if (flags.format === "json") await write(graphJsonChunks(plainEdges(networks, flags.self === true)));
  else await print(viewOf(networks, flags), flags);
  return 0;
}

async function print(view: GraphView, flags: GraphFlags): Promise<void> {
  switch (flags.format) {
    case "dot":
      return write([graphDot(view)]);
    case "mermaid":
      return write([graphMermaid(view)]);
    case "svg":
      return write([await graphSvg(view)]);
    default:
      return write(coloured(graphTextChunks(view), await palette(colorOption(flags))));
  }
}

/** Marks what is surplus and what is missing; the words are there without colour, too. */
function* coloured(chunks: Iterable<string>, c: Colours): Generator<string> {
  for (const chunk of chunks) {
    yield c.level === 0
      ? chunk
      : chunk.replace(/(?<= {2})(surplus|missing): .*$/gm, (text, status: string) =>
          status === "surplus" ? c.red(text) : c.yellow(text),
        );
  }
}

async function printDiff(before: readonly Network[], after: readonly Network[], flags: GraphFlags): Promise<void> {
  const edges = (networks: readonly Network[]): NetworkEdge[] =>
    networks.flatMap(({ full }) => bounded(knownEdges(full.eachEdge({ self: flags.self === true }))));
  const diff = diffGraphs(edges(before), edges(after));
  if (flags.format === "json") return write([diffJson(diff)]);
  if (flags.format === "text") return write([diffText(diff)]);
  const groups = new Map([...groupsOf(before), ...groupsOf(after)]);
  const title = `${titleOf(before)} → ${titleOf(after)}`;
  return print(graphView(diffEdges(diff), { title, groups }), flags);
}

// --- reading ------------------------------------------------------------------------------------------------------------

async function read(target: string, flags: GraphFlags): Promise<Network[]> {
  if (target === "-") {
    const name = flags.stdinFilename ?? "stdin.yaml";
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    const host = memoryHost(new Map([[name, Buffer.concat(chunks)]]), "/stdin");
    return [manifests(host, "/stdin", "/stdin", name)];
  }
  const path = absolute(target);
  if (disk.stat(path) === undefined) throw new UsageError(`there is no file or directory ${path}`);
  const contracts = declared(path, flags);
  if (contracts.length > 0) return contracts;
  const root = disk.stat(path) === "file" ? absolute(join(path, "..")) : path;
  return [manifests(disk, root, path, target)];
}

/** The contracts of the contract file that governs a path. */
function declared(path: string, flags: GraphFlags): Network[] {
  const config = flags.config === undefined ? undefined : absolute(flags.config);
  if (config === undefined && !hasContractFile(path)) return [];
  const { roots, faults } = load(disk, [path], { ruleIds: rules.map((r) => r.id), today: clock(), config });
  if (faults.length > 0) throw new UsageError(faults.join("\nquorumlint: "));
  return roots
    .filter((root) => root.config !== undefined && relativeTo(root.root, path) !== undefined)
    .flatMap(({ root, contracts }) => contracts.map((contract) => ofContract(contract, root)));
}

function hasContractFile(path: string): boolean {
  for (let at = path; ; at = absolute(join(at, ".."))) {
    if (CONFIG_NAMES.some((name) => disk.stat(joinPath(at, name)) === "file")) return true;
    if (CONFIG_NAMES.includes(basename(at))) return true;
    if (at === absolute(join(at, ".."))) return false;
  }
}

/** The picture of a contract's network; a UsageError where it has too many edges. */
export function contractGraph(contract: Contract, root: string): GraphView {
  return viewOf([ofContract(contract, root)], {});
}

function ofContract(contract: Contract, root: string): Network {
  const { network } = contract;
  return {
    title: `Network edges of ${contract.name}`,
    plain: buildNetwork(network.input),
    full: network.graph,
    planes: planesOf(contract, (workload) => network.idOf(workload)),
    standings: network.declared?.standings.map(({ from, to, connections, status }) => ({
      from,
      to,
      connections: connections.connections,
      status,
    })),
    placeOf: (policy, path) => placeText(network.at(policy, ...path).span, root),
  };
}

interface Located extends RawObject {
  readonly document: YamlDocument;
}

/** All manifests below a path, whatever they are for. */
function manifests(host: Host, root: string, path: string, title: string): Network {
  const single = host.stat(path) === "file" ? relativeTo(root, path) : undefined;
  const files: InputFile[] = [];
  const reader = new Reader(host, root);
  for (const name of single === undefined ? reader.walk("") : [single]) {
    if (single === undefined && host === disk && !/\.(ya?ml|json)$/i.test(name)) continue;
    const file = reader.file(name, "kubernetes");
    if (file === undefined) continue;
    const skip = reasonToSkip(file);
    if (skip === undefined) files.push(file);
    else note(`quorumlint: ${printable(placeOrFile(root, name))} is left out of the graph: ${skip}`);
  }
  const objects = files.flatMap((file) =>
    file.yaml.documents.map((document): Located => ({ value: document.value, document })),
  );
  const input = networkInputFromObjects(objects);
  if (input.pods.length === 0) note(`quorumlint: no workload in ${printable(title)}`);
  const contract = buildContract({
    name: title,
    declared: false,
    config: {},
    configDocument: undefined,
    configPath: [],
    files,
    match: () => [],
    today: clock(),
    setting: () => ({ severity: undefined, options: {} }),
  });
  return {
    title: title === "." ? "Network edges" : `Network edges of ${printable(title)}`,
    plain: buildNetwork(input),
    full: buildNetwork(withStandIns(input)),
    planes: planesOf(contract, ({ namespace, name, kind }) => `${namespace}/${name}[${kind}]`),
    standings: undefined,
    placeOf: (policy, path) => {
      const { object, path: base } = policy.info.handle as PolicyHandle<Located>;
      return placeText(new NodePlace(object.document, [...base, ...path]).span, root);
    },
  };
}

function reasonToSkip(file: InputFile): string | undefined {
  if (file.fault !== undefined) return file.fault;
  if (isTemplateSource(file.source.text))
    return "template source; graph what it renders (helm template … | quorumlint graph -)";
  const [problem] = file.yaml.problems;
  if (problem === undefined) return undefined;
  const { line, column } = problem.at.source.position(problem.at.start);
  return `${line}:${column}: ${problem.message}`;
}

function planesOf(
  contract: Contract,
  idOf: (workload: NonNullable<Contract["planes"][number]["workload"]>) => string,
): Map<string, string[]> {
  const planes = new Map<string, string[]>();
  for (const { workload, role } of contract.planes) {
    if (workload === undefined) continue;
    const id = idOf(workload);
    const roles = planes.get(id) ?? [];
    if (!roles.includes(role)) planes.set(id, [...roles, role]);
  }
  return planes;
}

function placeText({ source, start }: Span, root: string): string {
  const { line, column } = source.position(start);
  return `${printable(placeOrFile(root, source.file))}:${line}:${column}`;
}

function placeOrFile(root: string, file: string): string {
  if (root === "/stdin") return file;
  const here = relative(process.cwd(), join(root, file)).replaceAll("\\", "/");
  return here.startsWith("..") || isAbsolute(here) ? join(root, file).replaceAll("\\", "/") : here;
}

// --- edges --------------------------------------------------------------------------------------------------------------

function plainEdges(networks: readonly Network[], self: boolean): Iterable<NetworkEdge> {
  if (networks.length === 1) return networks[0]!.plain.eachEdge({ self });
  const all = new Map<string, NetworkEdge>();
  for (const { plain } of networks)
    for (const edge of plain.eachEdge({ self })) all.set(`${edge.from}\n${edge.to}`, edge);
  return [...all.values()].sort((a, b) => byText(a.from, b.from) || byText(a.to, b.to));
}

function bounded(edges: Iterable<NetworkEdge>): NetworkEdge[] {
  const out: NetworkEdge[] = [];
  for (const edge of edges) {
    if (out.length >= MOST_EDGES)
      throw new UsageError(`there are more than ${MOST_EDGES} edges; --format json writes any number`);
    out.push(edge);
  }
  return out;
}

/** The picture: edges of pods with themselves belong to it where they are declared, or asked for. */
function viewOf(networks: readonly Network[], flags: Pick<GraphFlags, "self">): GraphView {
  const edges = new Map<string, NetworkEdge & { status?: EdgeStatus }>();
  const nodes = new Set<string>();
  for (const { full, standings } of networks) {
    for (const { id } of full.workloads) nodes.add(id);
    const own = standings ?? bounded(knownEdges(full.eachEdge({ self: flags.self === true })));
    for (const edge of own) edges.set(`${edge.from}\n${edge.to}\n${"status" in edge ? edge.status : ""}`, edge);
  }
  return graphView(edges.values(), { title: titleOf(networks), nodes, groups: groupsOf(networks) });
}

function titleOf(networks: readonly Network[]): string {
  return networks.length === 1 ? networks[0]!.title : "Network edges of all contracts";
}

/** Planes stand together; a pod that holds both is one group with them. */
function groupsOf(networks: readonly Network[]): Map<string, string> {
  const groups = new Map<string, string>();
  for (const { planes } of networks) {
    for (const [id, roles] of planes) {
      groups.set(
        id,
        roles.length > 1 ? "data and Sentinel plane" : roles[0] === "data" ? "data plane" : "Sentinel plane",
      );
    }
  }
  return groups;
}

// --- explaining ---------------------------------------------------------------------------------------------------------

interface Question {
  readonly from: string;
  readonly to: string;
  readonly protocol: Protocol;
  readonly port: number | undefined;
}

/** `FROM TO [PORT]`, and what the command line's parser took with them. */
function explainArguments(words: readonly string[] | undefined): {
  explain: Question | undefined;
  rest: readonly string[];
} {
  if (words === undefined) return { explain: undefined, rest: [] };
  const [from, to, third, ...more] = words;
  if (from === undefined || to === undefined) throw new UsageError("--explain needs FROM and TO");
  const port = third === undefined ? undefined : parsePort(third);
  if (port !== undefined) return { explain: { from, to, protocol: port.protocol, port: port.port }, rest: more };
  return { explain: { from, to, protocol: "TCP", port: undefined }, rest: third === undefined ? [] : [third, ...more] };
}

/** `6379`, `TCP/6379`, `53/udp`, `udp:53`. */
function parsePort(text: string): { protocol: Protocol; port: number } | undefined {
  const found = /^(?:(tcp|udp|sctp)[/:])?(\d{1,5})(?:[/:](tcp|udp|sctp))?$/i.exec(text);
  if (found === null || (found[1] !== undefined && found[3] !== undefined)) return undefined;
  const port = Number(found[2]);
  if (port < 1 || port > 65535) throw new UsageError(`${text} is no port: ports are 1 to 65535`);
  const wanted = (found[1] ?? found[3] ?? "TCP").toUpperCase();
  return { protocol: PROTOCOLS.find((protocol) => protocol === wanted) ?? "TCP", port };
}

function explainIn(networks: readonly Network[], { from, to, protocol, port }: Question): [Explanation, Network] {
  for (const network of networks) {
    const a = endpoint(network, from);
    const b = endpoint(network, to);
    if (a === undefined || b === undefined) continue;
    try {
      return [port === undefined ? network.full.explain(a, b) : network.full.explain(a, b, protocol, port), network];
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new UsageError(error.message);
    }
  }
  const ids = networks.flatMap(({ full }) => full.workloads.map(({ id }) => id));
  const short = ids.map((id) => id.replace(/^[^/]*\/|\[[^\]]*\]$/g, ""));
  const names = [...new Set([...ids, ...short, "data", "sentinel", "dns"])];
  const lost = [from, to].find((text) => networks.every((network) => endpoint(network, text) === undefined)) ?? from;
  const known = ids.slice(0, 12).map(printable).join(", ");
  throw new UsageError(
    `there is no workload and no address "${printable(lost)}"${didYouMean(lost, names)}; the graph has ${known === "" ? "none" : known}`,
  );
}

/** An end of a question: a workload by id, name or `Kind/name`, a plane, `dns`, an address. */
function endpoint({ full, planes }: Network, text: string): string | undefined {
  const found = full.find(text)?.id;
  if (found !== undefined) return found;
  const end = parseEnd(text);
  const only = (ids: readonly string[]): string | undefined => (ids.length === 1 ? ids[0] : undefined);
  switch (end.kind) {
    case "plane":
      return only([...planes].flatMap(([id, roles]) => (roles.includes(end.role) ? [id] : [])));
    case "dns": {
      const isDns = (id: string): boolean =>
        id.startsWith(`${DNS.namespace}/`) &&
        full.find(id)!.pods.some((pod) => matches({ matchLabels: DNS.labels }, labelsOf(pod.labels)));
      return full.workloads.map(({ id }) => id).find(isDns);
    }
    case "workload": {
      const [kind, name] = end.ref.split("/");
      const ending = `/${name}[${kind}]`;
      return only(
        full.workloads
          .filter(({ id, namespace }) => id.endsWith(ending) && (end.namespace ?? namespace) === namespace)
          .map(({ id }) => id),
      );
    }
    case "addresses":
      return text.trim();
    default:
      return /\[External\]$/.test(text) ? text : undefined;
  }
}

// --- writing ------------------------------------------------------------------------------------------------------------

/** Writes piece by piece, no faster than the reader reads; a reader that has seen enough ends it. */
async function write(chunks: Iterable<string>): Promise<void> {
  const { stdout } = process;
  let closed = false;
  const close = (): void => {
    closed = true;
  };
  stdout.on("error", close);
  for (const chunk of chunks) {
    if (closed) break;
    await new Promise<void>((resolve) => stdout.write(chunk, () => resolve()));
  }
  stdout.off("error", close);
}
