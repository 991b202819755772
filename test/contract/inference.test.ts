/** Which files are one contract where nobody declared it. */
import { describe, expect, it } from "vitest";
import { checkTree, tree } from "../support.js";

const server = (name: string, namespace = "lab"): string => `apiVersion: apps/v1
kind: StatefulSet
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  serviceName: ${name}
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec: { containers: [{ name: redis, image: "redis:7.2.4" }] }
`;
const policy = (selector: string, namespace = "lab"): string => `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: np, namespace: ${namespace} }
spec: { podSelector: ${selector}, policyTypes: [Ingress], ingress: [] }
`;

async function sets(files: Readonly<Record<string, string>>): Promise<Record<string, string | undefined>> {
  const run = await checkTree(tree(files));
  return Object.fromEntries(run.result.inputs.map((i) => [i.file, i.contract]));
}

describe("policies in a directory of their own", () => {
  it("belong to the one directory whose pods they select", async () => {
    expect(
      await sets({ "app/redis.yaml": server("redis"), "policies/np.yaml": policy("{ matchLabels: { app: redis } }") }),
    ).toEqual({ "app/redis.yaml": "app", "policies/np.yaml": "app" });
  });

  it.each([
    ["pods of two directories", { "old/redis.yaml": server("redis") }, "{ matchLabels: { app: redis } }", "lab"],
    ["every pod", {}, "{}", "lab"],
    ["pods of another namespace", {}, "{ matchLabels: { app: redis } }", "elsewhere"],
    ["other pods", {}, "{ matchLabels: { app: web } }", "lab"],
  ])("are not tied by a selector of %s", async (_, more, selector, namespace) => {
    const found = await sets({
      "app/redis.yaml": server("redis"),
      "policies/np.yaml": policy(selector, namespace),
      ...more,
    });
    expect(found["app/redis.yaml"]).toBe("app");
    expect(found["policies/np.yaml"]).toBeUndefined();
  });

  it("stay with the pods beside them", async () => {
    const found = await sets({
      "app/redis.yaml": server("redis"),
      "web/np.yaml": policy("{ matchLabels: { app: redis } }"),
      "web/redis.yaml": server("redis"),
    });
    expect(found["web/np.yaml"]).toBe("web");
  });
});

async function findings(files: Readonly<Record<string, string>>): Promise<string[]> {
  const run = await checkTree(tree(files));
  return run.result.diagnostics.map((d) => d.rule);
}
const users = (text: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: c, namespace: lab }\ndata:\n  users.acl: ${JSON.stringify(text)}\n`;

describe("files of users", () => {
  it.each([
    ["none", ""],
    ["comments only", "# users\n"],
    ["of another program", "user alice\ntopic readwrite home/#\n"],
  ])("%s: no ACL", async (_, text) => {
    expect(
      (await findings({ "a/redis.yaml": server("redis"), "a/c.yaml": users(text) })).filter((r) =>
        r.startsWith("acl/"),
      ),
    ).toEqual([]);
    expect(await sets({ "a/c.yaml": users(text), "a/users.acl": text })).toEqual({});
  });

  it.each([
    "user default off",
    "\ufeffuser default on nopass ~* &* +@all\r\n",
    "user a >secret",
    "user a ${RULES}",
    "user b #12",
    "user b\nuser a ~k:* +get",
    "user __APP__ on",
  ])("%s: an ACL", async (text) => {
    expect(await sets({ "a/users.acl": text })).toEqual({ "a/users.acl": "a" });
  });
});

describe("manifests", () => {
  it("without --- between them are one with a key twice, not nothing to check", async () => {
    const text = `${server("redis")}apiVersion: v1\nkind: ServiceAccount\nmetadata: { name: a }\n`;
    expect(new Set(await findings({ "a/all.yaml": text }))).toContain("yaml/duplicate-key");
    expect(await findings({ "a/all.yaml": text.replaceAll("redis", "web") })).toEqual([]);
  });

  it.each([
    ["JSON on one line", JSON.stringify({ apiVersion: "v1", kind: "List", items: [1] })],
    ["a flow mapping", "{apiVersion: v1, kind: List, items: [1]}"],
  ])("%s", async (_, text) => {
    const item = `{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "r"}, "spec": {"template": {"spec": {"containers": [{"name": "redis", "image": "redis:7.2.4"}]}}}}`;
    expect(await sets({ "a/all.yaml": text.replace("[1]", `[${item}]`) })).toEqual({ "a/all.yaml": "a" });
  });
});
