/** Which kinds live outside namespaces. https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris */
import type { KubeObject } from "./object.js";

const CLUSTER: ReadonlySet<string> = new Set([
  "Namespace",
  "Node",
  "PersistentVolume",
  "StorageClass",
  "VolumeAttachment",
  "VolumeAttributesClass",
  "CSIDriver",
  "CSINode",
  "ClusterRole",
  "ClusterRoleBinding",
  "CustomResourceDefinition",
  "APIService",
  "PriorityClass",
  "RuntimeClass",
  "IngressClass",
  "MutatingWebhookConfiguration",
  "ValidatingWebhookConfiguration",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
  "CertificateSigningRequest",
  "ClusterTrustBundle",
  "FlowSchema",
  "PriorityLevelConfiguration",
  "DeviceClass",
  "ResourceSlice",
  "ServiceCIDR",
  "IPAddress",
  "TokenReview",
  "SelfSubjectReview",
]);

/** Groups of Kubernetes itself; kinds of other groups are custom resources, whose scope no file of ours tells. */
export function isBuiltinGroup(group: string): boolean {
  return group === "" || !group.includes(".") || group.endsWith(".k8s.io") || group === "apps" || group === "batch";
}

/** True also for custom resources: whether they are namespaced is not known, so nothing is demanded of them. */
export function isClusterScoped(object: KubeObject): boolean {
  return (
    CLUSTER.has(object.kind) ||
    (!isBuiltinGroup(object.group) && object.ownNamespace === undefined) ||
    object.group.includes("kustomize")
  );
}
