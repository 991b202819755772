/**
 * What the API server refuses beyond the types of fields, written by hand from the API reference and the server's
 * validation (`pkg/apis` of Kubernetes, the `validation` packages). Only what every server of 1.30 … 1.36 refuses
 * whatever its configuration, or what makes each pod of a template be refused.
 *
 * Left to other rules on purpose: that a selector matches its template and that a mounted volume exists
 * (`k8s/selector`, `k8s/reference`), requests against limits (`k8s/resources`), the agreement of ports
 * (`k8s/port-agreement`), privilege and exposure (`k8s/host-access`, `k8s/service-exposure`).
 */

import { nearest } from "../../text/similar.js";
import { asArray, asObject, isObject, type Obj } from "../value.js";
import {
  isCidr,
  isConfigKey,
  isDns1035Label,
  isDnsLabel,
  isDnsSubdomain,
  isEnvName,
  isIp,
  isLabelValue,
  isLocalPath,
  isPathSegment,
  isPercent,
  isPortName,
  isQualifiedName,
  isSchedule,
} from "./schema-formats.js";
import { quote, type Run, type Trail } from "./schema-problem.js";

/** What the value should be, when it is not. `minor` is that of the Kubernetes version. */
export type FieldRule = (value: string | number, minor: number) => string | undefined;

export type TypeRule = (object: Obj, run: Run, trail: Trail) => void;

const text =
  (is: (text: string) => boolean, expected: string): FieldRule =>
  (value) =>
    typeof value !== "string" || is(value) ? undefined : expected;

/** An empty string counts as not set in most optional fields. */
const orEmpty =
  (rule: FieldRule): FieldRule =>
  (value, minor) =>
    value === "" ? undefined : rule(value, minor);

const range =
  (low: number, high: number): FieldRule =>
  (value) => {
    if (typeof value !== "number" || (value >= low && value <= high)) return undefined;
    return high === Number.POSITIVE_INFINITY ? `a number of at least ${low}` : `a number from ${low} to ${high}`;
  };

const oneOf = (...values: string[]): FieldRule => {
  const expected = `one of ${values.join(", ")}`;
  return (value) => (typeof value !== "string" || values.includes(value) ? undefined : expected);
};

const LABEL = text(
  isDnsLabel,
  "a DNS label (lower-case letters, digits and '-', starting and ending with a letter or digit, at most 63)",
);
const LABEL_1035 = text(
  isDns1035Label,
  "a DNS label that starts with a letter (lower-case letters, digits and '-', at most 63)",
);
const SUBDOMAIN = text(isDnsSubdomain, "a DNS name (lower-case letters, digits, '-' and '.', at most 253)");
const SEGMENT = text(isPathSegment, "a name without '/' and '%'");
const QUALIFIED = text(
  isQualifiedName,
  "a qualified name ([prefix/]name of letters, digits, '-', '_' and '.', name at most 63)",
);
const ANNOTATION = text(
  (value) => isQualifiedName(value.toLowerCase()),
  "a qualified name ([prefix/]name of letters, digits, '-', '_' and '.', name at most 63)",
);
const LABEL_VALUE = text(
  isLabelValue,
  "a label value (letters, digits, '-', '_' and '.', starting and ending with a letter or digit, at most 63)",
);
const CONFIG_KEY = text(isConfigKey, "a key of letters, digits, '-', '_' and '.', at most 253");
const PORT_NAME = text(isPortName, "a port name (lower-case letters, digits and '-', at least one letter, at most 15)");
const PORT = range(1, 65535);
const NOT_NEGATIVE = range(0, Number.POSITIVE_INFINITY);
const POSITIVE = range(1, Number.POSITIVE_INFINITY);
const WEIGHT = range(1, 100);
const ID = range(0, 2147483647);
const MODE = range(0, 0o777);
const IP = text(isIp, "an IP address");
const CIDR = text(isCidr, "an address block in CIDR notation");
const NON_EMPTY = text((value) => value !== "", "a text that is not empty");
const LOCAL_PATH = text(isLocalPath, "a relative path without '..'");
const ENV_NAME: FieldRule = (value, minor) =>
  typeof value !== "string" || isEnvName(value, minor)
    ? undefined
    : minor >= 32
      ? "a name of printable ASCII characters without '='"
      : "a name of letters, digits, '_', '-' and '.' that does not start with a digit";
const PORT_REF: FieldRule = (value, minor) =>
  typeof value === "number" ? PORT(value, minor) : PORT_NAME(value, minor);
const FIELD_PATHS = new Set([
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "metadata.labels",
  "metadata.annotations",
  "spec.nodeName",
  "spec.host",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
]);
const FIELD_PATH = text(
  (value) => FIELD_PATHS.has(value) || /^metadata\.(?:labels|annotations)\['[^']*'\]$/.test(value),
  "a field of the pod that the downward API has, such as metadata.name or status.podIP",
);
const RESOURCE_PATH = text(
  (value) => /^(?:limits|requests)\.(?:cpu|memory|ephemeral-storage|hugepages-.+)$/.test(value),
  "limits.… or requests.… of cpu, memory, ephemeral-storage or hugepages-…",
);
const COUNT_OR_PERCENT: FieldRule = (value, minor) =>
  typeof value === "number"
    ? NOT_NEGATIVE(value, minor)
    : isPercent(value)
      ? undefined
      : "a number or a percentage such as 25%";
const RESTART_OF_CONTAINER: FieldRule = (value, minor) =>
  minor >= 34 ? oneOf("Always", "OnFailure", "Never")(value, minor) : oneOf("Always")(value, minor);

const CONTAINER: Readonly<Record<string, FieldRule>> = {
  name: LABEL,
  image: NON_EMPTY,
  restartPolicy: RESTART_OF_CONTAINER,
};

/** Rules of single fields, by `Type.field`; for lists and maps they hold for each item or value. */
export const FIELD_RULES: Readonly<Record<string, FieldRule>> = {
  "V1ObjectMeta.namespace": orEmpty(LABEL),
  "V1ObjectMeta.labels": LABEL_VALUE,
  "V1LabelSelector.matchLabels": LABEL_VALUE,
  "V1LabelSelectorRequirement.key": QUALIFIED,
  "V1LabelSelectorRequirement.operator": oneOf("In", "NotIn", "Exists", "DoesNotExist"),
  "V1LabelSelectorRequirement.values": LABEL_VALUE,
  "V1NodeSelectorRequirement.key": QUALIFIED,
  ...Object.fromEntries(
    Object.entries(CONTAINER).flatMap(([field, rule]) => [
      [`V1Container.${field}`, rule],
      [`V1EphemeralContainer.${field}`, rule],
    ]),
  ),
  "V1ContainerPort.containerPort": PORT,
  "V1ContainerPort.hostPort": range(0, 65535),
  "V1ContainerPort.name": orEmpty(PORT_NAME),
  "V1ContainerResizePolicy.resourceName": oneOf("cpu", "memory"),
  "V1ContainerResizePolicy.restartPolicy": oneOf("NotRequired", "RestartContainer"),
  "V1EnvVar.name": ENV_NAME,
  "V1ObjectFieldSelector.fieldPath": FIELD_PATH,
  "V1ResourceFieldSelector.resource": RESOURCE_PATH,
  "V1EnvFromSource.prefix": orEmpty(ENV_NAME),
  "V1ConfigMapKeySelector.key": CONFIG_KEY,
  "V1SecretKeySelector.key": CONFIG_KEY,
  "V1ConfigMapKeySelector.name": SUBDOMAIN,
  "V1SecretKeySelector.name": SUBDOMAIN,
  "V1ConfigMapEnvSource.name": SUBDOMAIN,
  "V1SecretEnvSource.name": SUBDOMAIN,
  "V1VolumeMount.mountPath": NON_EMPTY,
  "V1VolumeMount.subPath": orEmpty(LOCAL_PATH),
  "V1VolumeMount.subPathExpr": orEmpty(LOCAL_PATH),
  "V1VolumeMount.recursiveReadOnly": orEmpty(oneOf("Disabled", "Enabled", "IfPossible")),
  "V1KeyToPath.key": NON_EMPTY,
  "V1KeyToPath.path": LOCAL_PATH,
  "V1KeyToPath.mode": MODE,
  "V1DownwardAPIVolumeFile.path": LOCAL_PATH,
  "V1DownwardAPIVolumeFile.mode": MODE,
  "V1ConfigMapVolumeSource.defaultMode": MODE,
  "V1SecretVolumeSource.defaultMode": MODE,
  "V1ProjectedVolumeSource.defaultMode": MODE,
  "V1DownwardAPIVolumeSource.defaultMode": MODE,
  "V1Volume.name": LABEL,
  "V1HostPathVolumeSource.path": NON_EMPTY,
  "V1PersistentVolumeClaimVolumeSource.claimName": NON_EMPTY,
  "V1EmptyDirVolumeSource.medium": text(
    (value) => value === "" || value === "Memory" || value.startsWith("HugePages"),
    "'' or Memory or HugePages",
  ),
  "V1Probe.initialDelaySeconds": NOT_NEGATIVE,
  "V1Probe.timeoutSeconds": NOT_NEGATIVE,
  "V1Probe.periodSeconds": NOT_NEGATIVE,
  "V1Probe.successThreshold": NOT_NEGATIVE,
  "V1Probe.failureThreshold": NOT_NEGATIVE,
  "V1Probe.terminationGracePeriodSeconds": POSITIVE,
  "V1HTTPGetAction.port": PORT_REF,
  "V1TCPSocketAction.port": PORT_REF,
  "V1GRPCAction.port": PORT,
  "V1SleepAction.seconds": NOT_NEGATIVE,
  "V1SecurityContext.runAsUser": ID,
  "V1SecurityContext.runAsGroup": ID,
  "V1PodSecurityContext.runAsUser": ID,
  "V1PodSecurityContext.runAsGroup": ID,
  "V1PodSecurityContext.fsGroup": ID,
  "V1PodSecurityContext.supplementalGroups": ID,
  "V1PodSpec.activeDeadlineSeconds": range(1, 2147483647),
  "V1PodSpec.hostname": orEmpty(LABEL),
  "V1PodSpec.subdomain": orEmpty(LABEL),
  "V1PodSpec.nodeSelector": LABEL_VALUE,
  "V1PodSpec.serviceAccountName": orEmpty(SUBDOMAIN),
  "V1PodSpec.priorityClassName": orEmpty(SUBDOMAIN),
  "V1PodSpec.nodeName": orEmpty(SUBDOMAIN),
  "V1PodSpec.terminationGracePeriodSeconds": NOT_NEGATIVE,
  "V1PodOS.name": oneOf("linux", "windows"),
  "V1PodDNSConfig.nameservers": IP,
  "V1HostAlias.ip": IP,
  "V1PodAffinityTerm.topologyKey": QUALIFIED,
  "V1PodAffinityTerm.namespaces": LABEL,
  "V1WeightedPodAffinityTerm.weight": WEIGHT,
  "V1PreferredSchedulingTerm.weight": WEIGHT,
  "V1TopologySpreadConstraint.maxSkew": POSITIVE,
  "V1TopologySpreadConstraint.minDomains": POSITIVE,
  "V1TopologySpreadConstraint.topologyKey": QUALIFIED,
  "V1Toleration.key": orEmpty(QUALIFIED),
  "V1Toleration.value": LABEL_VALUE,
  "V1DeploymentSpec.replicas": NOT_NEGATIVE,
  "V1DeploymentSpec.minReadySeconds": NOT_NEGATIVE,
  "V1DeploymentSpec.revisionHistoryLimit": NOT_NEGATIVE,
  "V1DeploymentSpec.progressDeadlineSeconds": NOT_NEGATIVE,
  "V1RollingUpdateDeployment.maxSurge": COUNT_OR_PERCENT,
  "V1RollingUpdateDeployment.maxUnavailable": COUNT_OR_PERCENT,
  "V1StatefulSetSpec.replicas": NOT_NEGATIVE,
  "V1StatefulSetSpec.minReadySeconds": NOT_NEGATIVE,
  "V1StatefulSetSpec.revisionHistoryLimit": NOT_NEGATIVE,
  "V1StatefulSetOrdinals.start": NOT_NEGATIVE,
  "V1StatefulSetPersistentVolumeClaimRetentionPolicy.whenDeleted": orEmpty(oneOf("Retain", "Delete")),
  "V1StatefulSetPersistentVolumeClaimRetentionPolicy.whenScaled": orEmpty(oneOf("Retain", "Delete")),
  "V1RollingUpdateStatefulSetStrategy.partition": NOT_NEGATIVE,
  "V1RollingUpdateStatefulSetStrategy.maxUnavailable": COUNT_OR_PERCENT,
  "V1DaemonSetSpec.minReadySeconds": NOT_NEGATIVE,
  "V1RollingUpdateDaemonSet.maxSurge": COUNT_OR_PERCENT,
  "V1RollingUpdateDaemonSet.maxUnavailable": COUNT_OR_PERCENT,
  "V1ReplicaSetSpec.replicas": NOT_NEGATIVE,
  "V1JobSpec.parallelism": NOT_NEGATIVE,
  "V1JobSpec.completions": NOT_NEGATIVE,
  "V1JobSpec.backoffLimit": NOT_NEGATIVE,
  "V1JobSpec.activeDeadlineSeconds": NOT_NEGATIVE,
  "V1JobSpec.ttlSecondsAfterFinished": NOT_NEGATIVE,
  "V1CronJobSpec.schedule": text(isSchedule, 'a cron schedule of five fields, such as "*/5 * * * *"'),
  "V1CronJobSpec.startingDeadlineSeconds": NOT_NEGATIVE,
  "V1CronJobSpec.successfulJobsHistoryLimit": NOT_NEGATIVE,
  "V1CronJobSpec.failedJobsHistoryLimit": NOT_NEGATIVE,
  "V1PodDisruptionBudgetSpec.minAvailable": COUNT_OR_PERCENT,
  "V1PodDisruptionBudgetSpec.maxUnavailable": COUNT_OR_PERCENT,
  "V1ServicePort.port": PORT,
  "V1ServicePort.targetPort": PORT_REF,
  "V1ServicePort.nodePort": range(0, 65535),
  "V1ServicePort.name": orEmpty(LABEL),
  "V1ServiceSpec.selector": LABEL_VALUE,
  "V1ServiceSpec.clusterIP": text((value) => value === "" || value === "None" || isIp(value), "an IP address or None"),
  "V1ServiceSpec.clusterIPs": text((value) => value === "None" || isIp(value), "an IP address or None"),
  "V1ServiceSpec.externalIPs": IP,
  "V1ServiceSpec.loadBalancerSourceRanges": text((value) => isCidr(value.trim()), "an address block in CIDR notation"),
  "V1NetworkPolicyPort.port": PORT_REF,
  "V1NetworkPolicyPort.endPort": PORT,
  "V1IPBlock.cidr": CIDR,
  "V1IPBlock.except": CIDR,
  "V1ServiceBackendPort.number": range(0, 65535),
  "V1HTTPIngressPath.path": text((value) => value === "" || value.startsWith("/"), "an absolute path"),
  "V1PolicyRule.verbs": NON_EMPTY,
  "V1RoleRef.apiGroup": orEmpty(oneOf("rbac.authorization.k8s.io")),
  "V1RoleRef.kind": oneOf("Role", "ClusterRole"),
  "V1RoleRef.name": SEGMENT,
  "RbacV1Subject.kind": oneOf("User", "Group", "ServiceAccount"),
  "RbacV1Subject.name": NON_EMPTY,
  "V1HorizontalPodAutoscalerSpec.maxReplicas": POSITIVE,
  "V1HorizontalPodAutoscalerSpec.minReplicas": NOT_NEGATIVE,
  "V2HorizontalPodAutoscalerSpec.maxReplicas": POSITIVE,
  "V2HorizontalPodAutoscalerSpec.minReplicas": NOT_NEGATIVE,
  "V2MetricSpec.type": oneOf("ContainerResource", "External", "Object", "Pods", "Resource"),
  "V2MetricTarget.type": oneOf("Utilization", "Value", "AverageValue"),
  "V1StorageClass.provisioner": NON_EMPTY,
};

/** Rules of the keys of maps, by `Type.field`. */
export const KEY_RULES: Readonly<Record<string, FieldRule>> = {
  "V1ObjectMeta.labels": QUALIFIED,
  "V1ObjectMeta.annotations": ANNOTATION,
  "V1LabelSelector.matchLabels": QUALIFIED,
  "V1PodSpec.nodeSelector": QUALIFIED,
  "V1ServiceSpec.selector": QUALIFIED,
  "V1ConfigMap.data": CONFIG_KEY,
  "V1ConfigMap.binaryData": CONFIG_KEY,
  "V1Secret.data": CONFIG_KEY,
  "V1Secret.stringData": CONFIG_KEY,
};

/** Fields that OpenAPI calls optional and without which the object, or each pod of it, is refused. */
export const REQUIRED_TOO: Readonly<Record<string, readonly string[]>> = {
  V1Pod: ["spec"],
  V1PodTemplateSpec: ["spec"],
  V1Deployment: ["spec"],
  V1StatefulSet: ["spec"],
  V1DaemonSet: ["spec"],
  V1ReplicaSet: ["spec"],
  V1ReplicaSetSpec: ["template"],
  V1Job: ["spec"],
  V1CronJob: ["spec"],
  V1JobTemplateSpec: ["spec"],
  V1Ingress: ["spec"],
  V1PersistentVolume: ["spec"],
  V1PersistentVolumeClaim: ["spec"],
  V1PersistentVolumeClaimSpec: ["accessModes", "resources"],
  V1HorizontalPodAutoscaler: ["spec"],
  V2HorizontalPodAutoscaler: ["spec"],
  V1Container: ["image"],
  V1EphemeralContainer: ["image"],
  V1ExecAction: ["command"],
  V1ConfigMapKeySelector: ["name"],
  V1SecretKeySelector: ["name"],
  V1ConfigMapEnvSource: ["name"],
  V1SecretEnvSource: ["name"],
  V1ConfigMapVolumeSource: ["name"],
  V1SecretVolumeSource: ["secretName"],
  V1ConfigMapProjection: ["name"],
  V1SecretProjection: ["name"],
};

const has = (object: Obj, field: string): boolean => object[field] !== null && object[field] !== undefined;
const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
const objects = (value: unknown): readonly Obj[] => asArray(value).filter(isObject);

/** Exactly one of several fields; `atLeast` 0 lets none of them pass. */
function exactlyOne(
  object: Obj,
  run: Run,
  trail: Trail,
  fields: readonly string[],
  what: string,
  atLeast: 0 | 1 = 1,
): void {
  const set = fields.filter((field) => has(object, field));
  const isGuessed = fields.some((field) => trail.guessed?.has(field) === true);
  if (set.length === 0 && atLeast === 1 && !isGuessed && !run.isOpen(object)) {
    run.report("missing", trail, [], "value", { expected: `${what}: one of ${fields.join(", ")}` });
  }
  for (const field of set.slice(1))
    run.conflict(trail, [field], "key", `${what}: only one of ${set.join(", ")} may be set`);
}

/** Each item of a list has another key. `of` makes the key from an item; undefined is not compared. */
function unique(
  run: Run,
  trail: Trail,
  list: string,
  items: unknown,
  field: string,
  of: (item: Obj) => string | undefined,
  seen = new Set<string>(),
  level?: "warning",
): void {
  asArray(items).forEach((item, index) => {
    if (!isObject(item)) return;
    const key = of(item);
    if (key === undefined || key === "" || run.isOpaque(key)) return;
    if (!seen.has(key)) seen.add(key);
    else
      run.report(
        "duplicate",
        trail,
        [list, index, field],
        "value",
        level === undefined ? { got: quote(key) } : { got: quote(key), level },
      );
  });
}

const byField =
  (field: string) =>
  (item: Obj): string | undefined =>
    typeof item[field] === "string" ? item[field] : undefined;

/** A list that must not be empty. */
function notEmpty(object: Obj, run: Run, trail: Trail, field: string): void {
  if (isEmpty(object[field])) run.report("missing", trail, [field], "value", { expected: "at least one item" });
}

const SELECTOR_VALUES: TypeRule = (object, run, trail) => {
  const { operator, values } = object;
  if (operator === "In" || operator === "NotIn") {
    if (!has(object, "values") || isEmpty(values))
      run.missing(object, trail, "values", `the operator ${operator} needs at least one`);
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (asArray(values).length > 0) run.conflict(trail, ["values"], "key", `the operator ${operator} takes no values`);
  } else if ((operator === "Gt" || operator === "Lt") && asArray(values).length !== 1) {
    run.conflict(
      trail,
      ["values"],
      has(object, "values") ? "key" : "missing",
      `the operator ${operator} takes exactly one value`,
    );
  }
};

const HANDLERS = ["exec", "httpGet", "tcpSocket"];

const PROBE: TypeRule = (object, run, trail) => {
  exactlyOne(object, run, trail, [...HANDLERS, "grpc"], "a probe has one handler");
  const kind = trail.key;
  const { successThreshold } = object;
  if (
    (kind === "livenessProbe" || kind === "startupProbe") &&
    typeof successThreshold === "number" &&
    successThreshold > 1
  ) {
    run.report("range", trail, ["successThreshold"], "value", {
      expected: `1 in a ${kind}`,
      got: String(successThreshold),
    });
  }
  if (kind === "readinessProbe" && has(object, "terminationGracePeriodSeconds")) {
    run.conflict(trail, ["terminationGracePeriodSeconds"], "key", "a readinessProbe takes none");
  }
};

const STANDARD_RESOURCES = ["cpu", "memory", "ephemeral-storage"];

/** Keys and signs of the quantities of a container. */
const RESOURCES: TypeRule = (object, run, trail) => {
  for (const field of ["requests", "limits"]) {
    const map = asObject(object[field]);
    for (const key of Object.keys(map)) {
      if (run.isOpaque(key)) continue;
      const isStandard = STANDARD_RESOURCES.includes(key) || key.startsWith("hugepages-");
      if (!isStandard && !(key.includes("/") && isQualifiedName(key))) {
        const best = nearest(key, STANDARD_RESOURCES);
        run.report("pattern", trail, [field, key], "key", {
          expected: "cpu, memory, ephemeral-storage, hugepages-… or an extended resource (domain/name)",
          got: quote(key),
          ...(best === undefined ? {} : { nearest: best }),
        });
      }
      const value = map[key];
      if ((typeof value === "number" && value < 0) || (typeof value === "string" && /^-[^0]*[1-9]/.test(value))) {
        run.report("range", trail, [field, key], "value", {
          expected: "a quantity that is not negative",
          got: String(value),
        });
      }
    }
  }
};

const CONTAINER_RULE: TypeRule = (object, run, trail) => {
  unique(run, trail, "ports", object["ports"], "name", byField("name"));
  unique(run, trail, "env", object["env"], "name", byField("name"), new Set(), "warning");
  unique(run, trail, "volumeMounts", object["volumeMounts"], "mountPath", byField("mountPath"));
  unique(run, trail, "volumeDevices", object["volumeDevices"], "devicePath", byField("devicePath"));
  const hostPort = (port: Obj): string | undefined =>
    typeof port["hostPort"] === "number" && port["hostPort"] > 0
      ? `${port["hostPort"]}/${port["protocol"] ?? "TCP"}/${port["hostIP"] ?? ""}`
      : undefined;
  unique(run, trail, "ports", object["ports"], "hostPort", hostPort);
};

const INIT_FORBIDDEN = ["livenessProbe", "readinessProbe", "startupProbe", "lifecycle"];

const POD_SPEC: TypeRule = (object, run, trail) => {
  notEmpty(object, run, trail, "containers");
  const names = new Set<string>();
  unique(run, trail, "containers", object["containers"], "name", byField("name"), names);
  unique(run, trail, "initContainers", object["initContainers"], "name", byField("name"), names);
  unique(run, trail, "ephemeralContainers", object["ephemeralContainers"], "name", byField("name"), names);
  unique(run, trail, "volumes", object["volumes"], "name", byField("name"));
  const pair = (item: Obj): string | undefined =>
    typeof item["topologyKey"] === "string" && typeof item["whenUnsatisfiable"] === "string"
      ? `${item["topologyKey"]}, ${item["whenUnsatisfiable"]}`
      : undefined;
  unique(run, trail, "topologySpreadConstraints", object["topologySpreadConstraints"], "topologyKey", pair);

  asArray(object["initContainers"]).forEach((container, index) => {
    if (!isObject(container) || container["restartPolicy"] === "Always" || run.isOpaque(container["restartPolicy"]))
      return;
    for (const field of INIT_FORBIDDEN) {
      if (has(container, field)) {
        run.conflict(
          trail,
          ["initContainers", index, field],
          "key",
          "an init container has none unless its restartPolicy is Always",
        );
      }
    }
  });
  asArray(object["containers"]).forEach((container, index) => {
    if (!isObject(container)) return;
    if (run.minor < 34 && has(container, "restartPolicy")) {
      run.conflict(trail, ["containers", index, "restartPolicy"], "key", "only init containers have one");
    }
    if (object["hostNetwork"] !== true) return;
    asArray(container["ports"]).forEach((port, i) => {
      if (!isObject(port) || typeof port["hostPort"] !== "number" || port["hostPort"] === 0) return;
      if (typeof port["containerPort"] === "number" && port["hostPort"] !== port["containerPort"]) {
        run.conflict(
          trail,
          ["containers", index, "ports", i, "hostPort"],
          "value",
          "with hostNetwork it must equal containerPort",
        );
      }
    });
  });
  if (
    object["dnsPolicy"] === "None" &&
    asArray(asObject(object["dnsConfig"])["nameservers"]).length === 0 &&
    !run.isOpen(object)
  ) {
    run.conflict(trail, ["dnsPolicy"], "value", "the policy None needs dnsConfig.nameservers");
  }
};

const LOCALHOST: TypeRule = (object, run, trail) => {
  const isSet = has(object, "localhostProfile");
  if (object["type"] === "Localhost") {
    if (!isSet) run.missing(object, trail, "localhostProfile", "the type Localhost needs it");
  } else if (isSet && typeof object["type"] === "string" && !run.isOpaque(object["type"])) {
    run.conflict(trail, ["localhostProfile"], "key", "only the type Localhost has one");
  }
};

/** Kinds of volume, from the table of the type: every field but the name. */
const VOLUME_NAMES = new Set(["name"]);
const PV_NAMES = new Set([
  "accessModes",
  "capacity",
  "claimRef",
  "mountOptions",
  "nodeAffinity",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "volumeAttributesClassName",
  "volumeMode",
]);

function sources(object: Obj, trail: Trail, others: ReadonlySet<string>): string[] {
  return Object.keys(object).filter(
    (field) => !others.has(field) && has(object, field) && trail.fields?.has(field) === true,
  );
}

const oneVolume = (object: Obj, run: Run, trail: Trail, others: ReadonlySet<string>): string[] => {
  const set = sources(object, trail, others);
  for (const field of set.slice(1))
    run.conflict(trail, [field], "key", `a volume has one source, here are ${set.join(", ")}`);
  return set;
};

/** A selector of a workload must select something. */
function workloadSelector(object: Obj, run: Run, trail: Trail): void {
  const { selector } = object;
  if (!isObject(selector) || run.isOpen(selector)) return;
  const labels = asObject(selector["matchLabels"]);
  if (Object.keys(labels).length === 0 && asArray(selector["matchExpressions"]).length === 0) {
    run.report("missing", trail, ["selector"], "value", {
      expected: "at least one label: an empty selector is refused",
    });
  }
}

/** A workload that keeps its pods running restarts their containers always. */
function alwaysRestarts(object: Obj, run: Run, trail: Trail): void {
  const spec = asObject(asObject(object["template"])["spec"]);
  const { restartPolicy } = spec;
  if (
    typeof restartPolicy === "string" &&
    restartPolicy !== "" &&
    restartPolicy !== "Always" &&
    !run.isOpaque(restartPolicy)
  ) {
    run.report("enum", trail, ["template", "spec", "restartPolicy"], "value", {
      expected: "Always",
      got: quote(restartPolicy),
    });
  }
  if (has(spec, "activeDeadlineSeconds")) {
    run.conflict(trail, ["template", "spec", "activeDeadlineSeconds"], "key", "only Jobs and bare pods may have one");
  }
}

const WORKLOAD: TypeRule = (object, run, trail) => {
  workloadSelector(object, run, trail);
  alwaysRestarts(object, run, trail);
};

/** `rollingUpdate` belongs to the type RollingUpdate. */
const STRATEGY: TypeRule = (object, run, trail) => {
  const { type, rollingUpdate } = object;
  if (
    typeof type === "string" &&
    type !== "" &&
    type !== "RollingUpdate" &&
    has(object, "rollingUpdate") &&
    !run.isOpaque(type)
  ) {
    run.conflict(trail, ["rollingUpdate"], "key", `the type ${type} takes none`);
  }
  const { maxSurge, maxUnavailable } = asObject(rollingUpdate);
  const isZero = (value: unknown): boolean => value === 0 || (typeof value === "string" && /^0+%$/.test(value));
  if (isZero(maxSurge) && isZero(maxUnavailable)) {
    run.conflict(trail, ["rollingUpdate", "maxUnavailable"], "value", "maxSurge and maxUnavailable may not both be 0");
  }
};

const JOB: TypeRule = (object, run, trail) => {
  const template = asObject(object["template"]);
  const { spec } = template;
  if (!isObject(spec)) return;
  const { restartPolicy } = spec;
  const isOk = restartPolicy === "OnFailure" || restartPolicy === "Never" || run.isOpaque(restartPolicy);
  if (isOk || (restartPolicy !== "Always" && has(spec, "restartPolicy") && restartPolicy !== "")) return;
  const tail = ["template", "spec", "restartPolicy"];
  if (restartPolicy === "Always")
    run.report("enum", trail, tail, "value", { expected: "OnFailure, Never", got: quote(restartPolicy) });
  else if (!run.isOpen(spec))
    run.report("missing", trail, tail, "missing", { note: "the pods of a Job need OnFailure or Never" });
};

const SERVICE: TypeRule = (object, run, trail) => {
  const { type, clusterIP, ports } = object;
  const items = asArray(ports);
  if (run.isOpaque(type) || run.isOpaque(clusterIP)) return;
  const isHeadless = clusterIP === "None";
  if (items.length === 0 && !isHeadless && type !== "ExternalName" && !run.isOpen(object)) {
    run.missing(object, trail, "ports", "only a headless Service may have none");
  }
  if (type === "ExternalName") {
    if (!has(object, "externalName") || object["externalName"] === "")
      run.missing(object, trail, "externalName", "the type ExternalName needs it");
    if (typeof clusterIP === "string" && clusterIP !== "" && !isHeadless)
      run.conflict(trail, ["clusterIP"], "key", "the type ExternalName has none");
  }
  if (items.length > 1) {
    items.forEach((port, index) => {
      if (isObject(port) && (!has(port, "name") || port["name"] === "") && !run.isOpen(port)) {
        run.report("missing", trail, ["ports", index, "name"], "missing", {
          note: "each of several ports needs a name",
        });
      }
    });
  }
  unique(run, trail, "ports", ports, "name", byField("name"));
  const portKey = (port: Obj): string | undefined =>
    typeof port["port"] === "number" && !run.isOpaque(port["protocol"])
      ? `${port["port"]}/${port["protocol"] ?? "TCP"}`
      : undefined;
  unique(run, trail, "ports", ports, "port", portKey);
};

const NETWORK_PEER: TypeRule = (object, run, trail) => {
  const isPods = has(object, "podSelector") || has(object, "namespaceSelector");
  if (has(object, "ipBlock")) {
    if (isPods)
      run.conflict(trail, ["ipBlock"], "key", "a peer with ipBlock has no podSelector and no namespaceSelector");
  } else if (!isPods && !run.isOpen(object)) {
    run.report("missing", trail, [], "value", { expected: "a peer: one of podSelector, namespaceSelector, ipBlock" });
  }
};

const NETWORK_PORT: TypeRule = (object, run, trail) => {
  if (!has(object, "endPort")) return;
  const { port, endPort } = object;
  if (!has(object, "port")) run.missing(object, trail, "port", "endPort needs it");
  else if (typeof port === "string" && !run.isOpaque(port))
    run.conflict(trail, ["endPort"], "key", "it needs a port that is a number");
  else if (typeof port === "number" && typeof endPort === "number" && endPort < port) {
    run.report("range", trail, ["endPort"], "value", {
      expected: `a number of at least ${port}, the port`,
      got: String(endPort),
    });
  }
};

const CONFIG_MAP: TypeRule = (object, run, trail) => {
  const data = asObject(object["data"]);
  for (const key of Object.keys(asObject(object["binaryData"]))) {
    if (Object.hasOwn(data, key)) run.report("duplicate", trail, ["binaryData", key], "key", { got: quote(key) });
  }
};

const SECRET_KEYS: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
};

/** A Secret without any value is a note that it exists at run time: nothing is missing in it. */
const SECRET: TypeRule = (object, run, trail) => {
  const data = asObject(object["data"]);
  const stringData = asObject(object["stringData"]);
  const { type } = object;
  if (typeof type !== "string" || !Object.hasOwn(SECRET_KEYS, type) || run.isOpen(data) || run.isOpen(stringData))
    return;
  if (Object.keys(data).length + Object.keys(stringData).length === 0) return;
  for (const key of SECRET_KEYS[type]!) {
    if (!Object.hasOwn(data, key) && !Object.hasOwn(stringData, key)) {
      run.report("missing", trail, [has(object, "data") ? "data" : "stringData", key], "missing", {
        note: `a Secret of the type ${type} needs it`,
      });
    }
  }
};

const POLICY_RULE: TypeRule = (object, run, trail) => {
  notEmpty(object, run, trail, "verbs");
  if (asArray(object["nonResourceURLs"]).length > 0) {
    if (asArray(object["resources"]).length > 0)
      run.conflict(trail, ["nonResourceURLs"], "key", "a rule is about resources or about URLs, not both");
    return;
  }
  for (const field of ["apiGroups", "resources"]) {
    if (asArray(object[field]).length > 0) continue;
    if (has(object, field)) run.report("missing", trail, [field], "value", { expected: "at least one item" });
    else run.missing(object, trail, field);
  }
};

const SUBJECT: TypeRule = (object, run, trail) => {
  if (object["kind"] === "ServiceAccount" && (!has(object, "namespace") || object["namespace"] === "")) {
    run.missing(object, trail, "namespace", "a ServiceAccount is in one");
  }
};

const HPA: TypeRule = (object, run, trail) => {
  const { minReplicas, maxReplicas } = object;
  if (typeof minReplicas === "number" && typeof maxReplicas === "number" && maxReplicas < minReplicas) {
    run.report("range", trail, ["maxReplicas"], "value", {
      expected: `a number of at least ${minReplicas}, minReplicas`,
      got: String(maxReplicas),
    });
  }
};

const METRICS: Readonly<Record<string, string>> = {
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource",
};

const METRIC: TypeRule = (object, run, trail) => {
  const { type } = object;
  if (typeof type !== "string" || !Object.hasOwn(METRICS, type)) return;
  for (const field of Object.values(METRICS)) {
    if (field === METRICS[type]) {
      if (!has(object, field)) run.missing(object, trail, field, `the type ${type} needs it`);
    } else if (has(object, field)) run.conflict(trail, [field], "key", `the type ${type} takes none`);
  }
};

const CLAIM: TypeRule = (object, run, trail) => {
  notEmpty(object, run, trail, "accessModes");
  const { resources } = object;
  if (!isObject(resources) || run.isOpen(resources)) return;
  const { requests } = resources;
  if (run.isOpen(requests) || has(asObject(requests), "storage")) return;
  run.report(
    "missing",
    trail,
    isObject(requests) ? ["resources", "requests", "storage"] : ["resources", "requests"],
    "missing",
    {
      note: "a claim needs the size of its storage",
    },
  );
};

/** Rules of whole objects, by type. */
export const TYPE_RULES: Readonly<Record<string, TypeRule>> = {
  V1LabelSelectorRequirement: SELECTOR_VALUES,
  V1NodeSelectorRequirement: SELECTOR_VALUES,
  V1NodeSelector: (object, run, trail) => notEmpty(object, run, trail, "nodeSelectorTerms"),
  V1PodSpec: POD_SPEC,
  V1Container: CONTAINER_RULE,
  V1EphemeralContainer: CONTAINER_RULE,
  V1Probe: PROBE,
  V1LifecycleHandler: (object, run, trail) =>
    exactlyOne(object, run, trail, [...HANDLERS, "sleep"], "a hook has one handler"),
  V1ExecAction: (object, run, trail) => notEmpty(object, run, trail, "command"),
  V1ResourceRequirements: RESOURCES,
  V1EnvVar: (object, run, trail) => {
    if (typeof object["value"] === "string" && object["value"] !== "" && has(object, "valueFrom")) {
      run.conflict(trail, ["valueFrom"], "key", "a variable has value or valueFrom, not both");
    }
  },
  V1EnvVarSource: (object, run, trail) => {
    const fields = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef"];
    exactlyOne(object, run, trail, run.minor >= 34 ? [...fields, "fileKeyRef"] : fields, "a variable has one source");
  },
  V1EnvFromSource: (object, run, trail) =>
    exactlyOne(object, run, trail, ["configMapRef", "secretRef"], "envFrom has one source"),
  V1VolumeMount: (object, run, trail) => {
    if (
      typeof object["subPath"] === "string" &&
      object["subPath"] !== "" &&
      has(object, "subPathExpr") &&
      object["subPathExpr"] !== ""
    ) {
      run.conflict(trail, ["subPathExpr"], "key", "subPath and subPathExpr exclude each other");
    }
  },
  V1Volume: (object, run, trail) => void oneVolume(object, run, trail, VOLUME_NAMES),
  V1VolumeProjection: (object, run, trail) => void oneVolume(object, run, trail, new Set()),
  V1PersistentVolumeSpec: (object, run, trail) => {
    if (oneVolume(object, run, trail, PV_NAMES).length === 0 && !run.isOpen(object)) {
      run.report("missing", trail, [], "value", { expected: "a volume source" });
    }
    for (const field of ["capacity", "accessModes"])
      if (!has(object, field) || isEmpty(object[field])) run.missing(object, trail, field);
  },
  V1PersistentVolumeClaimSpec: CLAIM,
  V1SeccompProfile: LOCALHOST,
  V1AppArmorProfile: LOCALHOST,
  V1Toleration: (object, run, trail) => {
    const { operator, value, key, effect } = object;
    if (run.isOpaque(operator)) return;
    if (operator === "Exists" && typeof value === "string" && value !== "")
      run.conflict(trail, ["value"], "key", "the operator Exists takes no value");
    if ((!has(object, "key") || key === "") && operator !== "Exists" && !run.isOpen(object)) {
      run.conflict(
        trail,
        [has(object, "operator") ? "operator" : "key"],
        has(object, "operator") ? "value" : "missing",
        "without a key the operator must be Exists",
      );
    }
    if (has(object, "tolerationSeconds") && effect !== "NoExecute" && !run.isOpaque(effect)) {
      run.conflict(trail, ["tolerationSeconds"], "key", "it needs the effect NoExecute");
    }
  },
  V1TopologySpreadConstraint: (object, run, trail) => {
    const { minDomains, whenUnsatisfiable } = object;
    if (
      typeof minDomains === "number" &&
      typeof whenUnsatisfiable === "string" &&
      whenUnsatisfiable === "ScheduleAnyway"
    ) {
      run.conflict(trail, ["minDomains"], "key", "it needs whenUnsatisfiable DoNotSchedule");
    }
  },
  V1DeploymentSpec: (object, run, trail) => {
    WORKLOAD(object, run, trail);
    const { minReadySeconds, progressDeadlineSeconds } = object;
    const ready = typeof minReadySeconds === "number" ? minReadySeconds : 0;
    if (typeof progressDeadlineSeconds === "number" && progressDeadlineSeconds <= ready) {
      run.report("range", trail, ["progressDeadlineSeconds"], "value", {
        expected: "more than minReadySeconds",
        got: String(progressDeadlineSeconds),
      });
    }
  },
  V1StatefulSetSpec: WORKLOAD,
  V1DaemonSetSpec: WORKLOAD,
  V1ReplicaSetSpec: WORKLOAD,
  V1DeploymentStrategy: STRATEGY,
  V1StatefulSetUpdateStrategy: STRATEGY,
  V1DaemonSetUpdateStrategy: STRATEGY,
  V1JobSpec: JOB,
  V1PodDisruptionBudgetSpec: (object, run, trail) => {
    exactlyOne(object, run, trail, ["minAvailable", "maxUnavailable"], "a budget has one number", 0);
    for (const field of ["minAvailable", "maxUnavailable"]) {
      const value = object[field];
      if (typeof value === "string" && isPercent(value) && Number(value.slice(0, -1)) > 100) {
        run.report("range", trail, [field], "value", { expected: "at most 100%", got: quote(value) });
      }
    }
  },
  V1ServiceSpec: SERVICE,
  V1NetworkPolicyPeer: NETWORK_PEER,
  V1NetworkPolicyPort: NETWORK_PORT,
  V1ConfigMap: CONFIG_MAP,
  V1Secret: SECRET,
  V1PolicyRule: POLICY_RULE,
  RbacV1Subject: SUBJECT,
  V1HorizontalPodAutoscalerSpec: HPA,
  V2HorizontalPodAutoscalerSpec: HPA,
  V2MetricSpec: METRIC,
  V1IngressSpec: (object, run, trail) => {
    if (!has(object, "defaultBackend") && asArray(object["rules"]).length === 0 && !run.isOpen(object)) {
      run.report("missing", trail, [], "value", { expected: "one of defaultBackend, rules" });
    }
  },
  V1IngressBackend: (object, run, trail) =>
    exactlyOne(object, run, trail, ["service", "resource"], "a backend is one thing"),
  V1ServiceBackendPort: (object, run, trail) => {
    const isNumbered = typeof object["number"] === "number" && object["number"] !== 0;
    if (isNumbered && has(object, "name") && object["name"] !== "")
      run.conflict(trail, ["number"], "key", "a port has a name or a number, not both");
  },
};

const SEGMENT_NAMES = /^rbac\.authorization\.k8s\.io\//;
const SUBDOMAIN_NAMES =
  /^(?:v1|apps\/|batch\/|autoscaling\/|policy\/|networking\.k8s\.io\/v1$|storage\.k8s\.io\/|scheduling\.k8s\.io\/v1$|coordination\.k8s\.io\/v1$|discovery\.k8s\.io\/)/;

/** What `metadata.name` of a kind should be, when it is not. */
export function nameRule(apiVersion: string, kind: string, name: string, minor: number): string | undefined {
  if (SEGMENT_NAMES.test(apiVersion)) return SEGMENT(name, minor);
  if (apiVersion === "v1" && kind === "Namespace") return LABEL(name, minor);
  // From 1.34 a gate lets Services start with a digit.
  if (apiVersion === "v1" && kind === "Service") return minor < 34 ? LABEL_1035(name, minor) : LABEL(name, minor);
  if (apiVersion === "networking.k8s.io/v1" && kind === "IPAddress") return IP(name, minor);
  if (kind === "CronJob" && name.length > 52) return "at most 52 characters, since its Jobs add 11 more";
  return SUBDOMAIN_NAMES.test(apiVersion) ? SUBDOMAIN(name, minor) : SEGMENT(name, minor);
}

/** The document as a whole, where its rule needs more than its spec. */
export function customResourceDefinition(object: Obj, run: Run, trail: Trail): void {
  const { group, names, versions } = asObject(object["spec"]);
  const name = asObject(object["metadata"])["name"];
  const plural = asObject(names)["plural"];
  if (
    typeof group === "string" &&
    typeof plural === "string" &&
    typeof name === "string" &&
    ![group, plural, name].some((part) => run.isOpaque(part)) &&
    name !== `${plural}.${group}`
  ) {
    run.report("pattern", trail, ["metadata", "name"], "value", {
      expected: `${plural}.${group} (spec.names.plural, spec.group)`,
      got: quote(name),
    });
  }
  const stored = objects(versions).filter((version) => version["storage"] === true);
  if (asArray(versions).length > 0 && stored.length !== 1 && !run.isOpen(versions)) {
    run.conflict(
      trail,
      ["spec", "versions"],
      "key",
      `exactly one version is the one to store, here ${stored.length} are`,
    );
  }
}
