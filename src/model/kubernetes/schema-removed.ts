/**
 * API versions that were gone before the oldest field table.
 * Source: https://kubernetes.io/docs/reference/using-api/deprecation-guide/ and the lifecycle tags of `k8s.io/api`.
 */

export interface RemovedApi {
  /** Minor version that no longer serves it: 16 for 1.16. */
  readonly since: number;
  /** API version to use instead; undefined when the kind itself is gone. */
  readonly replacement: string | undefined;
}

type Line = readonly [apiVersion: string, kinds: string, since: number, replacement: string | undefined];

const LINES: readonly Line[] = [
  ["extensions/v1beta1", "Deployment DaemonSet ReplicaSet ControllerRevision", 16, "apps/v1"],
  ["extensions/v1beta1", "NetworkPolicy", 16, "networking.k8s.io/v1"],
  ["extensions/v1beta1", "PodSecurityPolicy", 16, undefined],
  ["extensions/v1beta1", "Ingress", 22, "networking.k8s.io/v1"],
  ["apps/v1beta1", "Deployment StatefulSet ControllerRevision", 16, "apps/v1"],
  ["apps/v1beta2", "Deployment StatefulSet DaemonSet ReplicaSet ControllerRevision", 16, "apps/v1"],
  ["networking.k8s.io/v1beta1", "Ingress IngressClass", 22, "networking.k8s.io/v1"],
  ["batch/v2alpha1", "CronJob", 21, "batch/v1"],
  ["batch/v1beta1", "CronJob", 25, "batch/v1"],
  ["policy/v1beta1", "PodDisruptionBudget Eviction", 25, "policy/v1"],
  ["policy/v1beta1", "PodSecurityPolicy", 25, undefined],
  ["autoscaling/v2beta1", "HorizontalPodAutoscaler", 25, "autoscaling/v2"],
  ["autoscaling/v2beta2", "HorizontalPodAutoscaler", 26, "autoscaling/v2"],
  [
    "admissionregistration.k8s.io/v1beta1",
    "MutatingWebhookConfiguration ValidatingWebhookConfiguration",
    22,
    "admissionregistration.k8s.io/v1",
  ],
  ["apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", 22, "apiextensions.k8s.io/v1"],
  ["apiregistration.k8s.io/v1beta1", "APIService", 22, "apiregistration.k8s.io/v1"],
  ["authentication.k8s.io/v1beta1", "TokenReview", 22, "authentication.k8s.io/v1"],
  [
    "authorization.k8s.io/v1beta1",
    "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
    22,
    "authorization.k8s.io/v1",
  ],
  ["certificates.k8s.io/v1beta1", "CertificateSigningRequest", 22, "certificates.k8s.io/v1"],
  ["coordination.k8s.io/v1beta1", "Lease", 22, "coordination.k8s.io/v1"],
  [
    "rbac.authorization.k8s.io/v1beta1",
    "Role RoleBinding ClusterRole ClusterRoleBinding",
    22,
    "rbac.authorization.k8s.io/v1",
  ],
  [
    "rbac.authorization.k8s.io/v1alpha1",
    "Role RoleBinding ClusterRole ClusterRoleBinding",
    22,
    "rbac.authorization.k8s.io/v1",
  ],
  ["scheduling.k8s.io/v1beta1", "PriorityClass", 22, "scheduling.k8s.io/v1"],
  ["scheduling.k8s.io/v1alpha1", "PriorityClass", 22, "scheduling.k8s.io/v1"],
  ["storage.k8s.io/v1beta1", "CSIDriver CSINode StorageClass VolumeAttachment", 22, "storage.k8s.io/v1"],
  ["storage.k8s.io/v1beta1", "CSIStorageCapacity", 27, "storage.k8s.io/v1"],
  ["storage.k8s.io/v1alpha1", "CSIStorageCapacity VolumeAttachment", 24, "storage.k8s.io/v1"],
  ["discovery.k8s.io/v1beta1", "EndpointSlice", 25, "discovery.k8s.io/v1"],
  ["events.k8s.io/v1beta1", "Event", 25, "events.k8s.io/v1"],
  ["node.k8s.io/v1beta1", "RuntimeClass", 25, "node.k8s.io/v1"],
  ["node.k8s.io/v1alpha1", "RuntimeClass", 25, "node.k8s.io/v1"],
  [
    "flowcontrol.apiserver.k8s.io/v1alpha1",
    "FlowSchema PriorityLevelConfiguration",
    24,
    "flowcontrol.apiserver.k8s.io/v1",
  ],
  [
    "flowcontrol.apiserver.k8s.io/v1beta1",
    "FlowSchema PriorityLevelConfiguration",
    26,
    "flowcontrol.apiserver.k8s.io/v1",
  ],
  [
    "flowcontrol.apiserver.k8s.io/v1beta2",
    "FlowSchema PriorityLevelConfiguration",
    29,
    "flowcontrol.apiserver.k8s.io/v1",
  ],
  ["auditregistration.k8s.io/v1alpha1", "AuditSink", 19, undefined],
  ["settings.k8s.io/v1alpha1", "PodPreset", 20, undefined],
];

const REMOVED: ReadonlyMap<string, RemovedApi> = new Map(
  LINES.flatMap(([apiVersion, kinds, since, replacement]) =>
    kinds.split(" ").flatMap((kind): [string, RemovedApi][] => [
      [`${apiVersion} ${kind}`, { since, replacement }],
      [`${apiVersion} ${kind}List`, { since, replacement }],
    ]),
  ),
);

/** API groups that only removed versions had. */
export const REMOVED_GROUPS: readonly string[] = ["extensions", "auditregistration.k8s.io", "settings.k8s.io"];

/** What became of a kind, if it was removed before the oldest field table. */
export function removedApi(apiVersion: string, kind: string): RemovedApi | undefined {
  return REMOVED.get(`${apiVersion} ${kind}`);
}
