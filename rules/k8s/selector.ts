import { defineRule } from "../../src/engine/rule.js";
import type { Contract } from "../../src/model/contract.js";
import type { KubeObject } from "../../src/model/kubernetes/object.js";
import { describeSelector, matches, parseSelector } from "../../src/model/kubernetes/selector.js";
import type { Workload } from "../../src/model/kubernetes/workload.js";
import type { Place } from "../../src/model/place.js";
import { asObject, hasToken, isObject } from "../../src/model/value.js";

export default defineRule({
  severity: "error",
  inferred: "error",
  docs: {
    summary: "Every selector selects the pods that it is meant for.",
    why: "A selector that matches nothing fails without a word: a Service has no endpoints, a budget protects nobody, a policy lets everything through.",
    fix: "Make the selector equal to labels of the pod template that it is meant for.",
    bad: "selector: { app: redis }\n# pods are labelled app: redis-data\n",
    good: "selector: { app: redis-data }\n",
    source: {
      title: "Kubernetes: labels and selectors",
      url: "https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/",
    },
    rows: ["C-K06", "C-N04"],
  },
  messages: {
    workload: "the selector of {object} does not match its own pod template",
    absent: "{object} has no selector, and without one it selects no pod",
    none: { text: "{object} selects no pod: {selector}", inferred: "warning" },
    planes: "{object} selects pods of both planes: {pods}",
    foreign: "{object} of the {plane} plane also selects {pods}",
    invalid: "the selector of {object} is not valid: {reason}",
  },
  on: {
    Workload(workload, { report }) {
      const { selector } = workload;
      if (!isObject(selector)) return;
      if (workload.kind === "Job" || workload.kind === "CronJob") return;
      const plain = workload.kind === "ReplicationController" ? { matchLabels: selector } : selector;
      const read = parseSelector(plain);
      if (read.kind === "invalid") {
        report(
          "invalid",
          { object: workload.title, reason: read.problems[0]?.message ?? "" },
          workload.at("spec", "selector", ...(read.problems[0]?.path ?? [])),
        );
      } else if (!matches(plain, workload.podLabels) && !hasToken(JSON.stringify([selector, workload.podLabels]))) {
        report("workload", { object: workload.title }, workload.key("spec", "selector"), {
          related: [
            { at: workload.key(...workload.podPath, "metadata", "labels"), message: "the pod template's labels" },
          ],
        });
      }
    },
    Service(service, { contract, report }) {
      const selector = service.get("spec", "selector");
      if (service.get("spec", "type") === "ExternalName" || !isObject(selector) || Object.keys(selector).length === 0)
        return;
      if (hasToken(JSON.stringify(selector))) return;
      const pods = contract.podsMatchingMap(service.namespace, selector);
      const place = service.key("spec", "selector");
      if (pods.length > 0) crossing(service, pods, place, contract, report as never);
      else if (
        !isPatchedAtRunTime(service, contract) &&
        (contract.declared || contract.podsIn(service.namespace).length > 0)
      ) {
        report("none", { object: service.title, selector: describeSelector({ matchLabels: selector }) }, place);
      }
    },
    PodDisruptionBudget(budget, { contract, report }) {
      const selector = budget.get("spec", "selector");
      const read = parseSelector(selector);
      const place = budget.key("spec", "selector");
      if (selector === undefined || selector === null)
        report("absent", { object: budget.title }, budget.missing("spec", "selector"));
      else if (read.kind === "invalid")
        report(
          "invalid",
          { object: budget.title, reason: read.problems[0]?.message ?? "" },
          budget.at("spec", "selector", ...(read.problems[0]?.path ?? [])),
        );
      else if (!hasToken(JSON.stringify(selector))) {
        const pods = contract.podsMatching(budget.namespace, selector);
        if (pods.length === 0) {
          if (contract.declared || contract.workloads.length > 0)
            report("none", { object: budget.title, selector: describeSelector(selector) }, place);
        } else crossing(budget, pods, place, contract, report as never);
      }
    },
    NetworkPolicy(policy, { contract, report }) {
      const selector = policy.get("spec", "podSelector");
      const read = parseSelector(selector);
      if (read.kind === "invalid") {
        report(
          "invalid",
          { object: policy.title, reason: read.problems[0]?.message ?? "" },
          policy.at("spec", "podSelector", ...(read.problems[0]?.path ?? [])),
        );
      } else if (
        read.kind === "some" &&
        !hasToken(JSON.stringify(selector)) &&
        contract.podsMatching(policy.namespace, selector).length === 0
      ) {
        if (contract.declared || contract.podsIn(policy.namespace).length > 0) {
          report(
            "none",
            { object: policy.title, selector: describeSelector(selector) },
            policy.key("spec", "podSelector"),
          );
        }
      }
    },
  },
});

/** Labels such as `role: primary` are set on running pods: what is left of the selector must match. */
function isPatchedAtRunTime(service: KubeObject, contract: Contract): boolean {
  const { role, ...stable } = asObject(service.get("spec", "selector")) as Record<string, unknown>;
  return (
    role !== undefined &&
    Object.keys(stable).length > 0 &&
    contract.podsMatchingMap(service.namespace, stable).length > 0
  );
}

/** A Service or budget is meant for one plane. */
function crossing(
  object: KubeObject,
  pods: readonly Workload[],
  place: Place,
  contract: Contract,
  report: (id: string, data: Record<string, string>, at: Place) => void,
): void {
  const roles = new Set(pods.flatMap((p) => contract.planesOf(p).map((plane) => plane.role)));
  const own = pods.filter((p) => contract.planesOf(p).length > 0);
  const shared = pods.some((p) => contract.planesOf(p).length > 1);
  const names = (list: readonly Workload[]): string => list.map((p) => p.title).join(" and ");
  if (roles.size > 1 && !shared) report("planes", { object: object.title, pods: names(own) }, place);
  else if (roles.size === 1 && own.length < pods.length && contract.declared) {
    report(
      "foreign",
      { object: object.title, plane: [...roles][0]!, pods: names(pods.filter((p) => !own.includes(p))) },
      place,
    );
  }
}
