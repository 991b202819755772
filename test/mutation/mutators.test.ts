// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts under test hold placeholders
/** Mutators: each yields a change of text that means what it says, and never touches what it was given. */
import { describe, expect, it } from "vitest";
import { parseSlice, YamlDocument } from "../../src/document/yaml.js";
import { InputFile } from "../../src/model/input.js";
import { type Mutant, mutatedText } from "../../src/mutation/mutant.js";
import { applyChange, differentKeys, touchedKeys } from "../../src/mutation/recorder.js";
import { Source } from "../../src/text/source.js";
import { fixtureBase } from "../support.js";
import { mutants, shown } from "./support.js";

const MANIFEST = `apiVersion: v1
kind: Service
metadata:
  name: redis # the name
spec:
  clusterIP: None
  selector: { app: redis, tier: "data" }
  ports:
    - name: redis
      port: 6379
    - port: 26379
`;

const files = new WeakMap<Source, InputFile>();

function fileOf({ source }: Mutant, kind: InputFile["kind"]): InputFile {
  let file = files.get(source);
  if (file === undefined) files.set(source, (file = new InputFile(source, kind)));
  return file;
}

/** What the parser makes of the mutated text, as the engine would see it. */
function reparsed(mutant: Mutant, kind: InputFile["kind"]): unknown {
  const before = fileOf(mutant, kind).yaml.documents[mutant.document!]!;
  const text = mutatedText(mutant, mutant.source.text);
  const end = before.end + text.length - mutant.source.text.length;
  const after = parseSlice(new Source(mutant.source.file, text), before.start, end, before.meaning);
  expect(after, `${mutant.mutator} ${mutant.field} does not parse:\n${text.slice(before.start, end)}`).toBeInstanceOf(
    YamlDocument,
  );
  return after;
}

function checkChanges(list: readonly Mutant[], kind: InputFile["kind"]): number {
  let checked = 0;
  for (const mutant of list) {
    if (mutant.change === undefined || mutant.document === undefined) continue;
    const before = fileOf(mutant, kind).yaml.documents[mutant.document]!;
    const snapshot = JSON.stringify(before.value);
    const after = reparsed(mutant, kind) as YamlDocument;
    const label = `${mutant.mutator} ${mutant.field}`;
    expect(applyChange(before.value, mutant.change), label).toEqual(after.value);
    // keys in the same order: some rules look at the first
    expect(JSON.stringify(applyChange(before.value, mutant.change)), label).toBe(JSON.stringify(after.value));
    expect(JSON.stringify(before.value)).toBe(snapshot);
    expect(after.duplicates.length, label).toBe(
      before.duplicates.length + (mutant.change.kind === "duplicate" ? 1 : 0),
    );
    // every place that differs is among those that the change says it touches
    const touched = new Set(touchedKeys("f", 0, before.value, mutant.change));
    for (const key of differentKeys("f", 0, before.value, after.value) ?? []) {
      const above = [...touched].some((t) => key === t || below(key, t));
      expect(above, `${label} also changes ${key.replaceAll("\0", " ")}`).toBe(true);
    }
    checked++;
  }
  return checked;
}

/** A key inside a value that was replaced, inserted or moved as a whole. */
function below(key: string, touched: string): boolean {
  const [, , pointer, name] = touched.split("\0");
  const whole = pointer === "" ? name! : `${pointer}/${name}`;
  const own = key.split("\0")[2]!;
  return own === whole || own.startsWith(`${whole}/`);
}

describe("YAML", () => {
  const list = mutants("a.yaml", "kubernetes", MANIFEST);

  it("changes keys, items, scalars and selectors", () => {
    const lines = shown(list);
    expect(lines).toContain('remove-key Service/redis:/spec/clusterIP: "clusterIP: None\\n  " → ""');
    expect(lines).toContain('rename-key Service/redis:/spec/selector/tier: "" → "x"');
    expect(lines).toContain('duplicate-key Service/redis:/spec/selector/app: "" → ", app: redis"');
    expect(lines).toContain('widen-selector Service/redis:/spec/selector: " { app: redis, tier: \\"data\\" }" → " {}"');
    expect(lines).toContain('increment Service/redis:/spec/ports[redis]/port: "6379" → "6380"');
    expect(lines).toContain('wrong-type Service/redis:/spec/ports[1]/port: "26379" → "\\"26379\\""');
    expect(lines).toContain('rename Service/redis:/spec/selector/tier: "\\"data\\"" → "\\"data-x\\""');
    expect(lines).toContain(
      'remove-item Service/redis:/spec/ports[redis]: "- name: redis\\n      port: 6379\\n    " → ""',
    );
  });

  it("knows what each change means", () => expect(checkChanges(list, "kubernetes")).toBeGreaterThan(40));

  it("gives stable ids, each once", () => {
    const ids = list.map((m) => m.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(mutants("a.yaml", "kubernetes", `# moved\n${MANIFEST}`).map((m) => m.id)).toEqual(ids);
  });

  it("knows it also in hard cases", () => {
    const cases = [
      "a:\n- x\n- y\nb: [1, 2]\n",
      "a:\n  b: |\n    text\n    more\n  c: 1\n",
      "a:\n  c: 1\n  b: |\n    text\n",
      "a:\n  - b: >-\n      folded\n      text\n  - c: 2\n",
      "- - a\n  - b\n- - c\n",
      'a: {b: "x", c: [d, {e: f}]}\n',
      "only: 1\n",
      "a:\n  only:\n    deep: true\n",
      "a:\nb:\n  c:\n",
      "a:\n  -\n  - b\n  -\nc:\n  - d:\n  - e:\n",
      "a: \"1\"\nb: 'two'\nc: 0440\nd: 1.5\ne: yes\nf: ~\n",
      "a:   # comment\n  # above\n  b: 1 # behind\n\n  c: 2\n\n",
      "a: 1\r\nb:\r\n  - c: 2\r\n  - d\r\n",
      "x: &a { b: 1 }\ny: *a\nz: { <<: *a, c: 2 }\n",
      "\"quoted key\": 1\n'single': 2\n",
      "? a\n: 1\nb: 2\n",
      "a: x\n---\nb: y\n",
      "a: [ ]\nb: { }\nc: [x]\nd: {y: 1}\n",
      "a: ünï\nb: 日本\nc: 😀😀\n",
    ];
    for (const text of cases) {
      const own = mutants("a.yaml", "yaml", text);
      expect(own.length, text).toBeGreaterThan(0);
      checkChanges(own, "yaml");
      // without its anchor an alias has no meaning: such a mutant is an invalid one
      for (const m of own) if (m.document !== undefined && !text.includes("*a")) reparsed(m, "yaml");
    }
  });

  it("handles JSON", () => {
    const text = '{\n  "schema": 2,\n  "programs": [ { "id": "a", "keys": ["x", "y"] } ]\n}\n';
    const own = mutants("m.json", "json", text);
    checkChanges(own, "json");
    for (const m of own) {
      if (m.mutator === "duplicate-key") continue;
      expect(() => JSON.parse(mutatedText(m, text)), `${m.mutator} ${m.field}`).not.toThrow();
    }
  });

  it("changes the texts inside", () => {
    const lines = shown(
      mutants(
        "a.yaml",
        "kubernetes",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: c }\ndata:\n  redis.conf: |\n    port 6379\n    appendonly yes\n",
      ),
    );
    expect(lines).toContain('flip-boolean ConfigMap/c:/data/redis.conf appendonly[1]: "yes" → "no"');
    expect(lines).toContain('remove-line ConfigMap/c:/data/redis.conf port: "port 6379\\n    " → ""');
    expect(lines).toContain('duplicate-line ConfigMap/c:/data/redis.conf port: "" → "\\n    port 6379"');
  });
});

describe("the golden contract", () => {
  it("every change of a value is what the parser makes of its text", () => {
    let checked = 0;
    for (const [path, bytes] of fixtureBase("redis-lab")!) {
      if (!path.includes("k3s/")) continue;
      checked += checkChanges(mutants(path, "kubernetes", new TextDecoder().decode(bytes)), "kubernetes");
    }
    expect(checked).toBeGreaterThan(2500);
  });
});

describe("texts", () => {
  it("redis.conf and sentinel.conf", () => {
    const lines = shown(
      mutants(
        "s.conf",
        "conf",
        "# c\nmaxmemory 256mb\nsentinel monitor m h 6379 2\nsentinel auth-user m u\nuser a on +get",
      ),
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        'other-unit maxmemory[1]: "256mb" → "256gb"',
        'remove-line maxmemory: "maxmemory 256mb\\n" → ""',
        'rename-directive sentinel monitor: "" → "x"',
        'increment sentinel monitor[4]: "2" → "3"',
        'swap-lines sentinel monitor: "sentinel monitor m h 6379 2\\nsentinel auth-user m u" → "sentinel auth-user m u\\nsentinel monitor m h 6379 2"',
        'remove-token user a: +get: " +get" → ""',
        'remove-user user a: "\\nuser a on +get" → ""',
      ]),
    );
  });

  it("ACL files", () => {
    const lines = shown(mutants("u.acl", "acl", "user app on >${P} ~app:* resetchannels -@all +get +client|id\n"));
    expect(lines).toEqual(
      expect.arrayContaining([
        'drop-password user app: >${P}: ">${P}" → "nopass"',
        'widen-keys user app: ~app:*: "~app:*" → "~*"',
        'widen-channels user app: resetchannels: "resetchannels" → "allchannels"',
        'widen-commands user app: -@all: "-@all" → "+@all"',
        'move-token user app: -@all: "-@all +get +client|id" → "+get +client|id -@all"',
        'widen-commands user app: +client|id: "+client|id" → "+client"',
        'flip-state user app: on: "on" → "off"',
        'rename-user user app: "" → "-x"',
      ]),
    );
  });

  it("properties", () => {
    const digest = `sha256:${"a".repeat(64)}`;
    const lines = shown(mutants("i.properties", "properties", `# c\nredis.image = redis:7.2.4-alpine@${digest}\n`));
    expect(lines).toEqual(
      expect.arrayContaining([
        `other-tag redis.image: "redis:7.2.4-alpine@${digest}" → "redis:7.2.5-alpine@${digest}"`,
        `drop-digest redis.image: "redis:7.2.4-alpine@${digest}" → "redis:7.2.4-alpine"`,
        `other-registry redis.image: "redis:7.2.4-alpine@${digest}" → "registry.example.com/redis:7.2.4-alpine@${digest}"`,
        'rename-key redis.image: "" → "x"',
      ]),
    );
  });

  it("shell", () => {
    const lines = shown(
      mutants(
        "a.sh",
        "shell",
        'set -eu\nif [ -e "$t" ]; then\n  exit 0\nfi\nredis-cli -h a.b.c -p 6379 --tls --user probe \\\n  ping\n',
      ),
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        'remove-statement 1: set -eu: "set -eu\\n" → ""',
        'remove-statement 3: exit 0: "  exit 0\\n" → ""',
        'drop-option 5: redis-cli -h a.b.c -p 6379 --tls --user … › --tls: " --tls" → ""',
        'other-port 5: redis-cli -h a.b.c -p 6379 --tls --user … › 6379: "6379" → "6380"',
      ]),
    );
    expect(lines.some((l) => l.startsWith("remove-statement 2"))).toBe(false);
  });

  it("Lua", () => {
    const lines = shown(
      mutants(
        "a.lua",
        "lua",
        "-- KEYS[9] == 1\nif redis.call('GET', KEYS[1]) == ARGV[1] then\n  redis.call('DEL', KEYS[1])\n  return true\nend\n",
      ),
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        'swap-arguments 2: KEYS[1]: "KEYS[1]" → "ARGV[1]"',
        'flip-comparison 2: ==: "==" → "~="',
        "other-command 2: 'GET': \"'GET'\" → \"'set'\"",
        "remove-statement 3: redis.call('DEL', KEYS[1]): \"  redis.call('DEL', KEYS[1])\\n\" → \"\"",
        'flip-boolean 4: true: "true" → "false"',
      ]),
    );
    expect(lines.some((l) => l.includes("KEYS[9]"))).toBe(false);
  });

  it("long and strange input takes bounded time", () => {
    const start = performance.now();
    for (const text of [
      "a ".repeat(50_000),
      `${"a".repeat(50_000)}: b`,
      "[".repeat(5000),
      `- ${"- ".repeat(5000)}x`,
      "\\\n".repeat(20_000),
    ]) {
      mutants("a.conf", "conf", text);
      mutants("a.sh", "shell", text);
      mutants("a.lua", "lua", text);
      mutants("a.acl", "acl", `user a ${text.slice(0, 2000)}`);
      mutants("a.yaml", "yaml", text);
    }
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});
