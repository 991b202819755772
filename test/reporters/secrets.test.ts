/** No format shows the value of a secret: neither in a code frame nor in a message that quotes a line. */
import { describe, expect, it } from "vitest";
import { fixtures } from "../../fixtures/index.js";
import { secretSpans } from "../../src/model/secret-spans.js";
import { applyFileEdits, editsOf } from "../../src/mutation/fixture.js";
import { frameOf } from "../../src/reporter/frame.js";
import { FORMATS, render } from "../../src/reporter/index.js";
import { MASK, ordered } from "../../src/reporter/shared.js";
import { Source } from "../../src/text/source.js";
import { checkTree, fixtureBase } from "../support.js";
import { context, diagnostic, resultOf } from "./sample.js";

function found(file: string, text: string): string[] {
  const source = new Source(file, text);
  return secretSpans(source).map((s) => source.slice(s));
}

const PEM = "-----BEGIN PRIVATE KEY-----\nMIIBVgIBADANBgkqhkiG9w0BAQEFAASCAUAwggE8\n-----END PRIVATE KEY-----\n";
const HASH = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8";

describe("secrets are found", () => {
  it.each<[string, string, string, string[]]>([
    ["ACL passwords and hashes", "users.acl", `user app on >hunter2 <old1 #${HASH} ~a:*\n`, ["hunter2", "old1", HASH]],
    ["a quoted ACL password", "redis.conf", 'user app on ">two words" ~a:*\n', ["two words"]],
    ["an odd ACL password", "users.acl", "user app on >p\"a>s's ~a:*\n", ["p\"a>s's"]],
    ["directives", "redis.conf", 'requirepass hunter2\nmasterauth "pass word"\n', ["hunter2", "pass word"]],
    [
      "Sentinel's",
      "sentinel.conf",
      "sentinel auth-pass m s3cret\nsentinel sentinel-pass s4cret\n",
      ["s3cret", "s4cret"],
    ],
    [
      "a Secret",
      "s.yaml",
      "kind: Secret\nstringData:\n  a: hunter2\n  b: |\n    x1x\n    y2y\n",
      ["hunter2", "    x1x\n    y2y\n"],
    ],
    ["a Secret in JSON", "s.json", '{"kind":"Secret","data":{"a":"aHVudGVyMg=="}}\n', ["aHVudGVyMg=="]],
    ["a Secret in a List", "l.yaml", "kind: List\nitems:\n- kind: Secret\n  data: {a: aGVsbG8=}\n", ["aGVsbG8="]],
    ["an environment variable", "d.yaml", "env:\n- value: hunter2\n  name: REDIS_PASSWORD\n", ["hunter2"]],
    ["an application's file", "application.yml", "spring:\n  redis: { password: hunter2 }\n", ["hunter2"]],
    ["arguments", "d.yaml", 'args: ["--requirepass", "hunter2", --port, "1"]\n', ["hunter2"]],
    ["a text in a string", "c.yaml", 'data: { a.conf: "port 1\\nrequirepass hunter2\\n" }\n', ["hunter2"]],
    ["a configuration in a ConfigMap", "c.yaml", "data:\n  redis.conf: |\n    requirepass hunter2\n", ["hunter2"]],
    ["a command line", "probe.sh", "exec redis-cli -h x -a hunter2 ping\n", ["hunter2"]],
    ["AUTH", "probe.sh", "redis-cli AUTH app hunter2 && redis-cli auth hunter3\n", ["hunter2", "hunter3"]],
    ["ACL SETUSER", "init.sh", "redis-cli ACL SETUSER app on '>hunter2' ~a:*\n", ["hunter2"]],
    ["a shell variable", "init.sh", "export REDIS_PASSWORD='hunter2'\n", ["hunter2"]],
    [".env", "prod.env", "REDIS_PASSWORD=hunter two\nPORT=1\n", ["hunter two"]],
    ["properties", "a.properties", "redis.password = hunter2\n", ["hunter2"]],
    ["Java", "A.java", 'config.setPassword("hunter2"); String API_KEY = "k1k2";\n', ["hunter2", "k1k2"]],
    ["TypeScript", "a.ts", "new Redis({ host: 'h', password: 'hunter2' })\n", ["hunter2"]],
    ["a URL", "a.ts", "const url = 'redis://app:hunter2@host:6379'\n", ["hunter2"]],
    ["a token", "a.sh", "# ghp_0123456789abcdefghijABCDEFGHIJ012345\n", ["ghp_0123456789abcdefghijABCDEFGHIJ012345"]],
    ["a private key", "a.pem", PEM, ["\nMIIBVgIBADANBgkqhkiG9w0BAQEFAASCAUAwggE8\n"]],
  ])("%s", (_, file, text, values) => expect(found(file, text)).toEqual(values));

  it.each<[string, string, string]>([
    ["placeholders", "users.acl.tmpl", "user app on >${APP_PASSWORD} >{{ X }} ~a:*\n"],
    [
      "references",
      "d.yaml",
      "env:\n- name: REDIS_PASSWORD\n  valueFrom: { secretKeyRef: { name: redis, key: password } }\n",
    ],
    ["names of Secrets", "d.yaml", "volumes:\n- name: tls\n  secret: { secretName: redis-tls }\n"],
    ["switches", "d.yaml", "automountServiceAccountToken: false\nspec: { credentials: none }\n"],
    ["variables", "a.sh", 'redis-cli -a "$REDIS_PASSWORD" ping; redis-cli --pass "${P}" AUTH "$A" "$B"\n'],
    ["paths", "a.env", "REDIS_PASSWORD_FILE=/run/secrets/password\n"],
    ["certificates", "a.pem", PEM.replaceAll("PRIVATE KEY", "CERTIFICATE")],
    ["key patterns", "users.acl", "user app on nopass ~app:* &ch +@read\n"],
  ])("and not in %s", (_, file, text) => expect(found(file, text)).toEqual([]));

  it("in time, whatever is in the text", () => {
    const hostile = [
      "user a ".repeat(200_000),
      `user a ${">".repeat(1_000_000)}`,
      `user a ${'>"'.repeat(500_000)}`,
      `redis-cli ${" -a".repeat(300_000)}`,
      "redis-cli ".repeat(100_000),
      'a="'.repeat(300_000),
      `${"a".repeat(1_000_000)}${" ".repeat(1_000_000)}`,
      "acl setuser ".repeat(80_000),
      "-----BEGIN PRIVATE KEY-----".repeat(2000),
      `password: ${"[".repeat(10_000)}`,
      "echo AUTH ".repeat(100_000),
    ];
    for (const text of hostile) {
      const from = performance.now();
      found("a.yaml", text);
      expect(performance.now() - from, text.slice(0, 20)).toBeLessThan(5000);
    }
  });
});

describe("frames", () => {
  const lines = (file: string, text: string, needle: string, width = 100) => {
    const source = new Source(file, text);
    const start = source.text.indexOf(needle);
    return frameOf(source.span(start, start + needle.length), { context: 1, width });
  };

  it("mask the value, whatever its length, and mark its place", () => {
    for (const secret of ["hunter2", "h", "a-very-long-password-of-somebody"]) {
      const [frame] = lines("users.acl", `user app on >${secret} ~a:*\n`, `>${secret}`);
      expect(frame!.text).toBe(`user app on >${MASK} ~a:*`);
      expect(frame!.mark).toEqual({ from: 12, to: 13 + MASK.length });
    }
  });

  it("keep the marks behind a mask at their text", () => {
    const [frame] = lines("users.acl", "\tuser app on >hunter2 >漢字漢字 ~漢:* +get\n", "+get");
    expect(frame!.text.slice(frame!.mark!.from - 1)).toBe("+get");
    expect(frame!.text).not.toMatch(/hunter|漢字/);
  });

  it("mask what runs over lines, and what is cut", () => {
    expect(lines("a.pem", PEM, "-----BEGIN").map((l) => l.text)).toEqual(["-----BEGIN PRIVATE KEY-----", MASK]);
    const long = `user app on >${"q".repeat(5000)} ~a:* +get ${"~b:* ".repeat(200)}\n`;
    expect(lines("users.acl", long, "+get", 60)[0]!.text).not.toContain("qqq");
    expect(lines("users.acl", long, "user", 60)[0]!.text).not.toContain("qqq");
  });

  it("mark a place inside a secret at its mask", () => {
    expect(lines("users.acl", "user app on >hunter2 ~a:*\n", "ter2")[0]!.mark).toEqual({
      from: 13,
      to: 13 + MASK.length,
    });
  });
});

describe("texts of findings", () => {
  const source = new Source("redis.conf", "requirepass hunter2\nport 6379\nmasterauth port\n");
  const say = (start: number, end: number, message: string) =>
    ordered([
      diagnostic(source, start, end, "redis/port", message, { related: [{ at: source.span(0, 4), message }] }),
    ])[0]!;

  it("quote no secret of their line, nor of a related one", () => {
    const d = say(20, 24, "requirepass hunter2 is not 'hunter2', nor xhunter2y");
    expect(d.message).toBe(`requirepass ${MASK} is not '${MASK}', nor xhunter2y`);
    expect(d.related[0]!.message).toBe(d.message);
  });

  it("keep words that are a secret elsewhere", () => {
    expect(say(20, 29, "the port is 6379").message).toBe("the port is 6379");
  });
});

/** The values that the fixtures of the rules about secrets plant. */
const PLANTED = /hunter2|s3cr3t-of-us|MIIBVgIBADAN|ghp_0123456|5e884898da28/;

describe("the rules about secrets", () => {
  const cases = ["secret/tracked-value", "acl/credential", "k8s/secret-on-command-line", "acl/wiring"].flatMap((id) =>
    fixtures.get(id)!.killed.map((c) => ({ id, ...c })),
  );
  // a certificate is public
  const planted = cases.filter((c) => PLANTED.test(JSON.stringify(c.edit)) && c.by !== "certificate");

  it("plant enough of them", () => {
    expect(planted.length).toBeGreaterThan(8);
  });

  it.each(planted)("$id: $mutant", async (c) => {
    const tree = applyFileEdits(fixtureBase(c.base ?? "redis-lab")!, editsOf(c.edit));
    const { result } = await checkTree(tree);
    expect(result.diagnostics.map((d) => d.rule)).toContain(c.id);
    for (const format of FORMATS) expect(await render(format, result, context), format).not.toMatch(PLANTED);
    // and it was there to be shown
    const frames = result.diagnostics.flatMap((d) => frameOf(d.at, { context: 1, width: 120 }));
    expect(frames.some((l) => l.text.includes(MASK)) || c.by === "secret").toBe(true);
  });

  it("leave a clean result as it is", () => {
    expect(ordered(resultOf([]).diagnostics)).toEqual([]);
  });
});
