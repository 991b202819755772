/** Document links: from a reference to what it names, as far as the files hold it. */
import type { DocumentLink } from "vscode-languageserver";
import { Glob } from "../contract/glob.js";
import type { LoadedRoot } from "../contract/load.js";
import type { Contract } from "../model/contract.js";
import { confDocument } from "../model/redis/deployment.js";
import type { Span } from "../text/source.js";
import { rangeOf, uriOf } from "./places.js";
import type { Seen } from "./session.js";

/** A link to the start of a span; editors open `#L7` at that line. */
function link(from: Span, root: string, to: Span | string, tooltip: string): DocumentLink {
  if (typeof to === "string") return { range: rangeOf(from), target: uriOf(`${root}/${to}`), tooltip };
  const { line, column } = to.source.position(to.start);
  return { range: rangeOf(from), target: `${uriOf(`${root}/${to.source.file}`)}#L${line},${column}`, tooltip };
}

/** The links of a contract file: paths, `ConfigMap/name#key`, workloads. */
export function linksOfContractFile(root: LoadedRoot): DocumentLink[] {
  const { config } = root;
  if (config === undefined) return [];
  const out: DocumentLink[] = [];
  for (const contract of root.contracts) {
    const walk = (value: unknown, path: readonly (string | number)[]): void => {
      if (typeof value === "string") {
        const to = named(contract, value);
        if (to === undefined) return;
        const at = config.document.locate(["contracts", contract.name, ...path]);
        out.push(link(at, root.root, to, typeof to === "string" ? to : `${to.source.file}: ${value}`));
      } else if (value !== null && typeof value === "object") {
        for (const [key, item] of Object.entries(value))
          walk(item, [...path, Array.isArray(value) ? Number(key) : key]);
      }
    };
    walk(contract.config, []);
  }
  return out;
}

/** What a text of the contract file names: a file of the contract, the one file of a glob, a text in a ConfigMap, a workload. */
function named(contract: Contract, text: string): string | Span | undefined {
  const embedded = /^ConfigMap\/([^#\s]+)(?:#(.*))?$/.exec(text);
  if (embedded !== null) {
    const map = contract.ofKind("ConfigMap").find((o) => o.name === embedded[1]);
    if (map === undefined) return undefined;
    const key = embedded[2];
    return key !== undefined && map.has("data", key) ? map.key("data", key).span : map.here.span;
  }
  const object = /^([A-Z]\w+)\/([\w.-]+)$/.exec(text);
  if (object !== null) return contract.ofKind(object[1]!).find((o) => o.name === object[2])?.here.span;
  const exact = contract.files.find((f) => f.file === text.replace(/^\.\//, ""));
  if (exact !== undefined) return exact.file;
  const glob = /[*?[\]{}]/.test(text) ? new Glob(text) : undefined;
  const matched = glob === undefined ? [] : contract.files.filter((f) => glob.matches(f.file));
  return matched.length === 1 ? matched[0]!.file : undefined;
}

/** The links of a file of contracts: what pods name, the governing Service, the ACL file of a configuration. */
export function linksOf(seen: readonly Seen[]): DocumentLink[] {
  const out: DocumentLink[] = [];
  const add = (item: DocumentLink): void => {
    const same = (o: DocumentLink): boolean =>
      o.target === item.target && JSON.stringify(o.range) === JSON.stringify(item.range);
    if (!out.some(same)) out.push(item);
  };
  for (const { root, contract, input } of seen) {
    for (const workload of contract.workloads) {
      if (workload.input !== input) continue;
      for (const ref of workload.references) {
        const object = contract.find(ref.kind, workload.namespace, ref.name);
        if (object === undefined) {
          const declared = provided(contract, ref.kind, ref.name);
          if (declared !== undefined)
            add(
              link(
                ref.place.span,
                root.root,
                declared,
                `${ref.kind} ${ref.name}: made at run time, says the contract file`,
              ),
            );
          continue;
        }
        const to =
          ref.key !== undefined && object.has("data", ref.key) ? object.key("data", ref.key).span : object.here.span;
        add(link(ref.place.span, root.root, to, `${object.title} in ${object.input.file}`));
      }
      const service = workload.get("spec", "serviceName");
      const governing = typeof service === "string" ? contract.find("Service", workload.namespace, service) : undefined;
      if (governing !== undefined)
        add(
          link(
            workload.at("spec", "serviceName").span,
            root.root,
            governing.here.span,
            `${governing.title} in ${governing.input.file}`,
          ),
        );
    }
    for (const plane of contract.planes) {
      for (const { conf, acl } of plane.servers) {
        if (conf === undefined || conf.input !== input || acl === undefined) continue;
        for (const directive of confDocument(conf).lines) {
          const operand = directive.args[0];
          if (directive.name !== "aclfile" || operand === undefined) continue;
          const to =
            acl.owner !== undefined && acl.key !== undefined ? acl.owner.key("data", acl.key).span : acl.input.file;
          add(link(operand.at, root.root, to, `the ACL of this server: ${acl.name}`));
        }
      }
    }
  }
  return out;
}

/** The entry of the contract file that says that an object exists at run time. */
function provided(contract: Contract, kind: string, name: string): Span | undefined {
  const entries = contract.config.kubernetes?.provided ?? [];
  const index = entries.indexOf(`${kind}/${name}`);
  return index < 0 ? undefined : contract.declaration("kubernetes", "provided", index)?.span;
}
