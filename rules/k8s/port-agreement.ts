import { defineRule } from "../../src/engine/rule.js";
import type { Contract } from "../../src/model/contract.js";
import type { Probe } from "../../src/model/kubernetes/container-parts.js";
import { governedBy } from "../../src/model/kubernetes/pod-name.js";
import { hasNamedPort, planeListeners, podPorts, portList, servicesOf } from "../../src/model/kubernetes/pod-ports.js";
import type { Workload } from "../../src/model/kubernetes/workload.js";
import { clientCalls } from "../../src/model/redis/clients.js";
import { namedPorts, serves } from "../../src/model/redis/named-ports.js";
import { asArray, asObject, asString } from "../../src/model/value.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Containers, Services, probes, policies and configurations mean the same ports.",
    why: "Kubernetes checks none of it: a Service without an endpoint, a probe that never succeeds and a primary that nobody reaches look right in each file.",
    fix: "Use the port that the server listens on, or the name of the container port, everywhere.",
    bad: "ports:\n  - { name: redis, containerPort: 6379 }\nreadinessProbe:\n  tcpSocket: { port: 6380 }\n",
    good: "ports:\n  - { name: redis, containerPort: 6379 }\nreadinessProbe:\n  tcpSocket: { port: redis }\n",
    source: {
      title: "Kubernetes: Services, port definitions",
      url: "https://kubernetes.io/docs/concepts/services-networking/service/#field-spec-ports",
    },
    rows: ["C-K24"],
  },
  messages: {
    listener: { text: "the server listens on {port}, and {container} declares {ports}" },
    unserved: { text: "{container} declares port {port}, and its server listens on {ports}", inferred: "off" },
    probe: { text: "the {probe} probe of {container} asks port {port}, which {container} does not serve" },
    target: { text: "{service} sends to port {port}, which no container of {object} has", inferred: "error" },
    offered: {
      text: "{service} offers port {port} for port {target} of {object}: who uses the pods' names needs the one, who uses the Service the other",
      inferred: "off",
    },
    named: { text: "`{directive}` names port {port}; the {plane} listen on {ports}", inferred: "error" },
    unlinked: {
      text: "`{directive}` names port {port}, where the {plane} {how}, and `tls-replication` says otherwise",
      inferred: "error",
    },
    policy: {
      text: "{policy} names the port {port}, which no pod that it {selects} has: the rule allows nothing",
      inferred: "error",
    },
  },
  on: {
    Plane(plane, { contract, report }) {
      const { container } = plane;
      const listed = (container?.ports ?? []).filter((p) => p.protocol === "TCP" && p.port !== undefined);
      const { open: all, known } = planeListeners(contract, plane);
      // a plaintext port beside TLS is redis/tls-only's matter
      const open = all.some((l) => l.tls) ? all.filter((l) => l.tls) : all;
      if (container === undefined || listed.length === 0 || !known || open.length === 0) return;
      const numbers = new Set(listed.map((p) => p.port!));
      const missing = open.filter((l) => !numbers.has(l.port));
      const [first] = missing;
      if (first !== undefined && (contract.declared || missing.length === open.length)) {
        const at = first.at ?? listed[0]!.place;
        const used = plane.workload !== undefined && servicesOf(contract, plane.workload).length > 0;
        report("listener", { port: first.port, container: container.title, ports: portList(numbers) }, at, {
          related: first.at === undefined ? [] : [{ at: listed[0]!.place, message: "the container's port" }],
          severity: used ? "error" : undefined,
        });
      } else if (first === undefined) {
        const idle = listed.find((p) => !open.some((l) => l.port === p.port));
        if (idle !== undefined)
          report(
            "unserved",
            { port: idle.port!, container: container.title, ports: portList(open.map((l) => l.port)) },
            idle.place,
          );
      }
    },
    Container(container, { contract, report }) {
      const { workload } = container;
      const plane = contract.planesOf(workload).find((p) => p.container === container);
      const served = plane === undefined ? { open: [], known: false } : planeListeners(contract, plane);
      const numbers = new Set([...container.ports.map((p) => p.port), ...served.open.map((l) => l.port)]);
      for (const probe of container.probes) {
        const data = { probe: probe.type, container: container.title };
        const port = networkPort(probe);
        if (typeof port === "string") {
          if (/[a-z]/i.test(port) && !container.ports.some((p) => p.name === port))
            report("probe", { ...data, port }, probe.at(probe.handler, "port"), { severity: "error" });
        } else if (port !== undefined && !numbers.has(port)) {
          const sure = served.known || contract.declared;
          if (sure || container.ports.length > 0)
            report("probe", { ...data, port }, probe.at(probe.handler, "port"), {
              severity: sure ? "error" : undefined,
            });
        }
        if (probe.command === undefined || plane === undefined) continue;
        const { numbers: pod, complete } = podPorts(contract, workload);
        for (const { call, target } of clientCalls(probe.command, contract)) {
          if (
            !complete ||
            target?.workload !== workload ||
            call.uncertain ||
            call.socket !== undefined ||
            call.uri !== undefined
          )
            continue;
          const asked = call.port === undefined ? 6379 : Number(call.port.known);
          if (Number.isInteger(asked) && !pod.has(asked))
            report("probe", { ...data, port: asked }, call.port?.place ?? call.invocation.place, { severity: "error" });
        }
      }
    },
    Service(service, { contract, report }) {
      const selector = service.get("spec", "selector");
      if (service.get("spec", "type") === "ExternalName" || selector === undefined) return;
      const pods = contract.podsMatchingMap(service.namespace, selector);
      // one that selects other pods than those whose Service it is has another fault
      const governed = governedBy(contract, service);
      if (pods.length === 0 || (governed.length > 0 && !governed.some((w) => pods.includes(w)))) return;
      const object = pods.map((p) => p.title).join(", ");
      asArray(service.get("spec", "ports")).forEach((raw, i) => {
        const spec = asObject(raw);
        const { port } = spec;
        const target = spec["targetPort"] ?? port;
        const at = service.at("spec", "ports", i, spec["targetPort"] === undefined ? "port" : "targetPort");
        const protocol = asString(spec["protocol"]) ?? "TCP";
        const reached = targetNumber(contract, pods, target, protocol);
        // what a container declares is information only: without a configuration it may listen elsewhere too
        const sure = typeof target === "string" || pods.some((p) => contract.planesOf(p).length > 0);
        if (reached === "none")
          report("target", { service: service.title, port: String(target), object }, at, {
            severity: sure || contract.declared ? undefined : "warning",
          });
        else if (
          typeof reached === "number" &&
          typeof port === "number" &&
          port !== reached &&
          pods.some((p) => contract.planesOf(p).length > 0)
        )
          report(
            "offered",
            { service: service.title, port, target: reached, object },
            service.at("spec", "ports", i, "port"),
          );
      });
    },
    Server(server, { contract, report }) {
      for (const named of namedPorts(contract, server)) {
        const { directive, port, at, plane } = named;
        const state = serves(contract, named);
        const title = plane.role === "data" ? "data servers" : "Sentinels";
        const { open } = planeListeners(contract, plane);
        if (state === false)
          report("named", { directive, port, plane: title, ports: portList(open.map((l) => l.port)) }, at);
        else if (state === "unlinked")
          report(
            "unlinked",
            { directive, port, plane: title, how: named.tls === true ? "take no TLS" : "take TLS only" },
            at,
          );
      }
    },
    NetworkPolicy(policy, { contract, report }) {
      if (policy.group !== "networking.k8s.io" && policy.group !== "extensions") return;
      for (const [direction, peers, selects] of [
        ["ingress", "from", "selects"],
        ["egress", "to", "lets reach"],
      ] as const) {
        asArray(policy.get("spec", direction)).forEach((rule, i) => {
          asArray(asObject(rule)["ports"]).forEach((raw, j) => {
            const { port, protocol } = asObject(raw);
            if (typeof port !== "string" || !/[a-z]/i.test(port)) return;
            const pods =
              direction === "ingress"
                ? contract.podsMatching(policy.namespace, policy.get("spec", "podSelector") ?? {})
                : peerPods(contract, policy.namespace, asArray(asObject(rule)[peers]));
            if (pods === undefined || pods.length === 0) return;
            if (!pods.some((p) => hasNamedPort(p, port, asString(protocol) ?? "TCP")))
              report(
                "policy",
                { policy: policy.title, port, selects },
                policy.at("spec", direction, i, "ports", j, "port"),
              );
          });
        });
      }
    },
  },
});

function networkPort(probe: Probe): string | number | undefined {
  const port = asObject(probe.spec[probe.handler])["port"];
  return probe.handler !== "exec" && (typeof port === "string" || typeof port === "number") ? port : undefined;
}

/** The number that a Service's target stands for; `none`: no pod has it; undefined: not known. */
function targetNumber(
  contract: Contract,
  pods: readonly Workload[],
  target: unknown,
  protocol: string,
): number | "none" | undefined {
  if (typeof target === "string") {
    if (!/[a-z]/i.test(target)) return undefined;
    const named = pods
      .flatMap((p) => p.containers.flatMap((c) => c.ports))
      .find((p) => p.name === target && p.protocol === protocol);
    return pods.some((p) => hasNamedPort(p, target, protocol)) ? named?.port : "none";
  }
  if (typeof target !== "number" || protocol !== "TCP") return undefined;
  const all = pods.map((p) => podPorts(contract, p));
  if (all.some((p) => p.numbers.has(target))) return target;
  return all.every((p) => p.complete) ? "none" : undefined;
}

/** Pods that an egress rule names; undefined: pods of elsewhere may be among them. */
function peerPods(contract: Contract, namespace: string, peers: readonly unknown[]): readonly Workload[] | undefined {
  const out: Workload[] = [];
  for (const raw of peers) {
    const peer = asObject(raw);
    if (peer["namespaceSelector"] !== undefined || peer["podSelector"] === undefined) return undefined;
    out.push(...contract.podsMatching(namespace, peer["podSelector"]));
  }
  return peers.length === 0 ? undefined : out;
}
