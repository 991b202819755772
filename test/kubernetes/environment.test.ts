import { expect, test } from "vitest";
import { environmentOf } from "../../src/model/kubernetes/environment.js";
import type { Container } from "../../src/model/kubernetes/workload.js";

const from = (fieldPath: string) => ({ valueFrom: { fieldRef: { fieldPath } } });

function values(
  env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[],
  more: object = {},
): Record<string, unknown> {
  const container = {
    env: env.map((spec) => ({ name: spec.name, spec })),
    spec: { env, ...more },
    workload: { ownNamespace: "kv" },
  };
  return Object.fromEntries(environmentOf(container as unknown as Container));
}

test("a reference sees the variables before it", () => {
  const env = [
    { name: "A", value: "a" },
    { name: "B", value: "$(A)-$(NS)-$(C)" },
    { name: "NS", ...from("metadata.namespace") },
    { name: "C", value: "$(NS).$(A)" },
  ];
  expect(values(env)).toEqual({ A: "a", B: undefined, NS: "kv", C: "kv.a" });
});

test("what a reference stands for is unknown where something out of sight may set it", () => {
  const env = [
    { name: "POD", ...from("metadata.name") },
    { name: "HOST", value: "$(POD).peers" },
    { name: "OTHER", value: "$(MISSING)" },
    { name: "SERVICE", value: "$(STORE_SERVICE_HOST)" },
  ];
  expect(values(env)).toEqual({ POD: undefined, HOST: undefined, OTHER: undefined, SERVICE: undefined });
  expect(values([{ name: "X", value: "$(Y)-1" }], { envFrom: [{ configMapRef: { name: "y" } }] })).toEqual({
    X: undefined,
  });
});

test("`$$` is a dollar sign, and a later value replaces an earlier one", () => {
  const env = [
    { name: "PRICE", value: "5$$" },
    { name: "PRICE", value: "$(PRICE) or 6$" },
  ];
  expect(values(env)).toEqual({ PRICE: "5$ or 6$" });
});
