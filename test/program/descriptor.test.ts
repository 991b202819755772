/** Descriptors in TypeScript and JavaScript: the shapes that catalogs have in public code, and what stays unknown. */
import { describe, expect, it } from "vitest";
import { sha1 } from "../../src/model/program/sha1.js";
import { plain, read, reading } from "./code.js";

const SHA = "f0e4c575f212a47f6a05898b785b6a9d46baaa55";
const LUA = "return redis.call('GET', KEYS[1])";

function all(text: string, others: Readonly<Record<string, string>> = {}, map: Readonly<Record<string, string>> = {}) {
  return read({ "src/catalog.ts": text, ...others }, map);
}

function one(text: string, others: Readonly<Record<string, string>> = {}, map: Readonly<Record<string, string>> = {}) {
  const { descriptors } = all(text, others, map);
  expect(descriptors.map((d) => d.name)).toHaveLength(1);
  return plain(descriptors[0]!);
}

describe("plain catalogs", () => {
  it("an array of object literals, as const satisfies", () => {
    const { descriptors } = all(`
      export const programs = [
        { id: "a", version: "1.0.0", file: "a-v1.lua", sha1: "${SHA}", keys: [{ name: "k", pattern: "app:*", access: "R" }],
          argv: [{ name: "n", type: "integer", unit: "count" }], result: { type: "integer", values: [0, 1] },
          minimumRedisVersion: "7.2", retry: "read-only", commands: ["get"], slotRule: "single-key" },
        { id: "b", version: "1.0.0", file: "b-v1.lua", keys: [], argv: [], commands: [] },
      ] as const satisfies readonly Program[];`);
    expect(descriptors.map(plain)).toEqual([
      {
        id: "a",
        version: "1.0.0",
        file: "a-v1.lua",
        sha1: SHA,
        keys: ["k app:* R"],
        argv: ["n integer count"],
        result: [["integer"], [0, 1], "absent"],
        minimumRedisVersion: "7.2",
        retry: "read-only",
        slotRule: "single-key",
        commands: ["GET"],
      },
      { id: "b", version: "1.0.0", file: "b-v1.lua", keys: [], argv: [], commands: [] },
    ]);
  });

  it("a record keyed by id", () => {
    expect(one(`const C = { "rate-fixed": { file: "rate.lua", sha1: "${SHA}" } };`)).toEqual({
      file: "rate.lua",
      sha1: SHA,
      holder: "rate-fixed",
    });
  });

  it("pairs of script and hash, the text with constants in it", () => {
    const found = one(`
      const prefix = "app";
      export const S = { limit: { script: \`return redis.call('GET', '\${prefix}:' .. KEYS[1])\`, hash: "${SHA}" } };`);
    expect(found).toEqual({ text: "return redis.call('GET', 'app:' .. KEYS[1])", sha1: SHA, holder: "limit" });
  });

  it("a digest made of the text is that of the text", () => {
    const { descriptors } = all(`
      import { createHash } from "node:crypto";
      const LUA = "${LUA}";
      export const s = { name: "get", lua: LUA, sha: createHash("sha1").update(LUA).digest("hex") };`);
    expect(reading(descriptors[0]!.sha1)).toBe(sha1(LUA));
  });

  it("name, content and a number of keys", () => {
    expect(one(`const content = "${LUA}"; export const addJob = { name: "addJob", content, keys: 6 };`)).toEqual({
      text: LUA,
      numberOfKeys: 6,
      holder: "addJob",
    });
  });

  it("a digest of 64 digits under a name for either is the SHA-256", () => {
    expect(one(`const x = { id: "a", file: "a.lua", digest: "sha256:${"ab".repeat(32)}" };`)).toEqual({
      id: "a",
      file: "a.lua",
      sha256: "ab".repeat(32),
      holder: "x",
    });
  });

  it("keys as strings, as a record by name, as a number", () => {
    expect(one(`const x = { id: "a", file: "a.lua", keys: ["app:{t}:a", "app:{t}:b"] };`)).toMatchObject({
      keys: ["absent app:{t}:a absent", "absent app:{t}:b absent"],
    });
    expect(one(`const x = { id: "a", file: "a.lua", keys: ["first", "second"] };`)).toMatchObject({
      keys: ["first absent absent", "second absent absent"],
    });
    expect(
      one(`const x = { id: "a", file: "a.lua", keys: { first: { pattern: "a:*", access: "W" }, second: "b:*" } };`),
    ).toMatchObject({ keys: ["first a:* W", "second b:* absent"] });
    expect(one(`const x = { id: "a", file: "a.lua", keys: [{ name: "k", read: true, write: true }] };`)).toMatchObject({
      keys: ["k absent RW"],
    });
  });

  it("enums: of strings, of numbers, of another file", () => {
    const text = `
      import { Access } from "./elsewhere";
      enum Retry { Safe = "SAFE", ReadOnly = "READ_ONLY" }
      enum Kind { Integer, Text }
      export const x = { id: "a", file: "a.lua", retry: Retry.ReadOnly,
        keys: [{ name: "k", pattern: "p", access: Access.READ_WRITE }], argv: [{ name: "n", type: Kind.Integer }] };`;
    expect(one(text)).toMatchObject({ retry: "read-only", keys: ["k p RW"], argv: ["n integer absent"] });
  });

  it("nested parts: script: { file, sha1 }", () => {
    expect(one(`const x = { id: "a", script: { file: "a.lua", sha1: "${SHA}" }, version: "1.0.0" };`)).toEqual({
      id: "a",
      version: "1.0.0",
      file: "a.lua",
      sha1: SHA,
      holder: "x",
    });
  });

  it("mapped fields", () => {
    const text = `const x = { handle: "a", origin: { sum: "${SHA}" }, keySpecs: [{ label: "k", shape: "p:*", mode: "READ_ONLY" }], file: "a.lua" };`;
    expect(
      one(
        text,
        {},
        { id: "handle", sha1: "origin.sum", keys: "keySpecs", "keys.name": "label", "keys.pattern": "shape" },
      ),
    ).toEqual({
      id: "a",
      sha1: SHA,
      file: "a.lua",
      keys: ["k p:* R"],
      holder: "x",
    });
  });
});

describe("constants", () => {
  it("over files: named, renamed, default, star, namespace, index, .js for .ts, an alias of the build", () => {
    const found = one(
      `import { A, B as C } from "./_consts.js";
       import D from "./_default";
       import * as all from "./_sub";
       import { E } from "@/deep/_e";
       export const x = { id: A, file: \`\${C}.lua\`, version: D, sha1: all.SUM, commands: [E, ...all.MORE] };`,
      {
        "src/_consts.ts": `export const A = "a"; const b = "b"; export { b as B };`,
        "src/_default.ts": `export default "1.0.0";`,
        "src/_sub/index.ts": `export * from "../_more";`,
        "src/_more.js": `export const SUM = "${SHA}"; export const MORE = Object.freeze(["SET", "DEL"]);`,
        "src/deep/_e.ts": `export const E = "GET";`,
      },
    );
    expect(found).toMatchObject({
      id: "a",
      file: "b.lua",
      version: "1.0.0",
      sha1: SHA,
      commands: ["GET", "SET", "DEL"],
    });
  });

  it("required, and exported as CommonJS does", () => {
    const { descriptors } = read({
      "a.js": `const { SUM } = require("./_c"); const c = require("./_c"); module.exports = { x: { id: "a", file: "a.lua", sha1: SUM, version: c.V } };`,
      "_c.js": `exports.SUM = "${SHA}"; module.exports.V = "2.0.0";`,
    });
    expect(descriptors.map(plain)).toEqual([{ id: "a", file: "a.lua", sha1: SHA, version: "2.0.0", holder: "x" }]);
  });

  it("arithmetic, joins, concatenation, methods of strings", () => {
    expect(
      one(`const lines = ["return redis.call('GET',", "KEYS[1])"];
        export const x = { id: "a" + "-" + 1, numberOfKeys: (3 * 4 - 2) / 5, lua: lines.join("\\n").trim(), version: ["1", "0", "0"].join(".") };`),
    ).toEqual({
      id: "a-1",
      numberOfKeys: 2,
      text: "return redis.call('GET',\nKEYS[1])",
      version: "1.0.0",
      holder: "x",
    });
  });

  it("a helper that makes descriptors, called with constants", () => {
    const { descriptors } = all(`
      const key = (name: string, access = "RW") => ({ name, pattern: \`app:\${name}:*\`, access });
      function program(id: string, major: number, ...keys: unknown[]) {
        const file = \`\${id}-v\${major}.lua\`;
        return Object.freeze({ id, file, version: \`\${major}.0.0\`, keys });
      }
      export const A = program("a", 1, key("x"), key("y", "R"));
      export const B = program("b", 2);`);
    expect(descriptors.map(plain)).toEqual([
      { id: "a", file: "a-v1.lua", version: "1.0.0", keys: ["x app:x:* RW", "y app:y:* R"], holder: "A" },
      { id: "b", file: "b-v2.lua", version: "2.0.0", keys: [], holder: "B" },
    ]);
    // it stands where it is called, its id where the caller wrote it
    const [a] = descriptors;
    expect(a!.at.source.text.slice(a!.at.start, a!.at.end)).toBe(`program("a", 1, key("x"), key("y", "R"))`);
    expect(a!.id.state === "known" && a!.id.at.source.slice(a!.id.at)).toBe(`"a"`);
  });

  it("a list mapped to descriptors, spread and run through", () => {
    const { descriptors } = all(`
      const base = { version: "1.0.0" };
      export const P = (["a", "b"] as const).map((id) => ({ ...base, id, file: id + ".lua" }));
      for (const [id, n] of Object.entries({ c: 1 })) redis.defineCommand(id, { numberOfKeys: n, lua: "${LUA}" });`);
    expect(descriptors.map(plain)).toEqual([
      { id: "a", file: "a.lua", version: "1.0.0" },
      { id: "b", file: "b.lua", version: "1.0.0" },
      { numberOfKeys: 1, text: LUA, holder: "c" },
    ]);
  });

  it("classes with fields, builders", () => {
    const { descriptors } = all(`
      class Program {
        static readonly A = new Program("a", "a.lua");
        readonly version = "1.0.0";
        constructor(readonly id: string, readonly file: string) {}
      }
      export const b = defineProgram("b").version("1.0.0");
      export const c = ProgramBuilder.create().id("c").file("c.lua").key("k", "app:*", "READ_WRITE").arg("n", "integer", "count").build();`);
    expect(descriptors.map(plain)).toEqual([
      { id: "a", file: "a.lua", version: "1.0.0", holder: "A" },
      { id: "c", file: "c.lua", keys: ["k app:* RW"], argv: ["n integer count"], holder: "c" },
    ]);
  });

  it("places: the use and where the constant was written", () => {
    const { descriptors } = all(`import { S } from "./_s";\nexport const x = { id: "a", file: "a.lua", sha1: S };`, {
      "src/_s.ts": `export const S = "${SHA}";`,
    });
    const { sha1: r } = descriptors[0]!;
    expect(
      r.state === "known" && [r.at.source.slice(r.at), r.origin.source.file, r.origin.source.slice(r.origin)],
    ).toEqual(["S", "src/_s.ts", `"${SHA}"`]);
  });
});

describe("client libraries", () => {
  it("ioredis: defineCommand, scripts", () => {
    expect(
      all(`
        import Redis from "ioredis";
        const LUA = "${LUA}";
        redis.defineCommand("acquireLock", { numberOfKeys: 1, lua: LUA, readOnly: true });
        export const client = new Redis({ keyPrefix: "x:", scripts: { release: { lua: LUA, numberOfKeys: 1 } } });
        class Limiter { constructor(private r: Redis) { r.defineCommand("limit", { numberOfKeys: 2, lua: readFileSync(join(__dirname, "lua", "limit.lua"), "utf8") }); } }`).descriptors.map(
        plain,
      ),
    ).toEqual([
      { text: LUA, numberOfKeys: 1, holder: "acquireLock" },
      { text: LUA, numberOfKeys: 1, holder: "release" },
      { file: "lua/limit.lua", numberOfKeys: 2, holder: "limit" },
    ]);
  });

  it("node-redis: defineScript", () => {
    expect(
      one(`
        export const client = createClient({ scripts: { unlock: defineScript({
          NUMBER_OF_KEYS: 1, SCRIPT: \`${LUA}\`,
          parseCommand(parser, key, token) { parser.pushKey(key); parser.push(token); },
          transformReply: undefined as unknown as () => NumberReply }) } });`),
    ).toEqual({ text: LUA, numberOfKeys: 1, holder: "unlock" });
  });

  it("files: imported text, readFileSync, URL, a loader that is not here", () => {
    expect(
      all(`
        import text from "./lua/a.lua?raw";
        export const S = {
          a: { lua: text, numberOfKeys: 1 },
          b: { lua: fs.readFileSync(new URL("./lua/b.lua", import.meta.url), "utf8"), numberOfKeys: 1 },
          c: { lua: loadScript("c.lua"), numberOfKeys: 1 },
          d: { lua: fs.readFileSync(path.resolve(dir(), "../lua/d.lua")).toString().trim(), numberOfKeys: 1 },
        };`).descriptors.map((d) => reading(d.file)),
    ).toEqual(["./lua/a.lua", "./lua/b.lua", "c.lua", "../lua/d.lua"]);
  });

  it("bare constants: a digest, a text", () => {
    expect(
      all(
        `export const RATE_LIMIT_SHA1 = "${SHA}"; export const releaseLockScript = "${LUA}"; const COMMIT = "${SHA}";`,
      ).descriptors.map((d) => [d.shape, d.holder?.name, reading(d.sha1)]),
    ).toEqual([
      ["constant", "RATE_LIMIT", SHA],
      ["constant", "releaseLock", "absent"],
    ]);
  });
});

describe("what is not decided", () => {
  it("is unknown, not absent", () => {
    const { descriptors } = all(`
      import { SUM } from "./not-here";
      let counter = 1; counter++;
      export const x = { id: "a", file: "a.lua", sha1: SUM, version: process.env.V, retry: flag ? "safe" : "unsafe",
        keys: other.keys, numberOfKeys: counter, commands: ["GET", ...more], minimumRedisVersion: await load() };`);
    expect(plain(descriptors[0]!)).toEqual({
      id: "a",
      file: "a.lua",
      sha1: "unknown",
      version: "unknown",
      retry: "unknown",
      keys: "unknown",
      numberOfKeys: "unknown",
      commands: ["GET", "unknown"],
      minimumRedisVersion: "unknown",
      holder: "x",
    });
  });

  it("a spread of what is not known makes every absent field unknown", () => {
    const { descriptors } = all(`export const x = { ...base(), id: "a", file: "a.lua" };`);
    expect(plain(descriptors[0]!)).toMatchObject({ id: "a", sha1: "unknown", version: "unknown", retry: "unknown" });
  });

  it("what is changed later under a condition", () => {
    const { descriptors } = all(`
      const x: any = { id: "a", file: "a.lua", sha1: "${SHA}", version: "1.0.0" };
      if (process.env.NEXT) x.sha1 = "${"0".repeat(40)}";
      x.version = "2.0.0";`);
    expect(plain(descriptors[0]!)).toMatchObject({ sha1: "unknown", version: "2.0.0" });
  });

  it("a descriptor whose program is not known is named with its place", () => {
    const { descriptors, unresolved } = all(
      `export const make = (id: string) => ({ id, file: \`\${id}.lua\`, version: "1.0.0", sha1: sums[id] });`,
    );
    expect(descriptors).toEqual([]);
    expect(unresolved.map((u) => u.at.source.slice(u.at).slice(0, 12))).toEqual(["{ id, file: "]);
  });

  it("objects that are no descriptors are none", () => {
    const text = `
      export const config = { name: "redis", version: "1.0.0", port: 6379 };
      export const key = { name: "k", pattern: "a:*", access: "R" };
      export const route = { id: "x", path: "/users", method: "GET" };
      export const asset = { name: "logo", hash: "deadbeef", path: "logo.png" };
      export const page = { title: "a", content: "b", keys: 3 };
      const sql = { script: "CREATE TABLE x", name: "init" };`;
    expect(all(text).descriptors.map(plain)).toEqual([]);
    expect(all(text).unresolved).toEqual([]);
  });
});

describe("hostile files", () => {
  const timed = (text: string, file = "a.ts") => {
    const start = performance.now();
    const found = read({ [file]: text });
    expect(performance.now() - start).toBeLessThan(8000);
    return found;
  };

  it("cyclic constants, cyclic imports, a file that imports itself", () => {
    expect(
      timed(`const a = b; const b = a; export const x = { id: a, file: "a.lua", version: "1.0.0" };`).descriptors.map(
        plain,
      ),
    ).toEqual([{ id: "unknown", file: "a.lua", version: "1.0.0", holder: "x" }]);
    const { descriptors } = read({
      "a.ts": `import { B } from "./b"; export const A = B; export const x = { id: A, file: "a.lua", version: "1" };`,
      "b.ts": `export * from "./a"; export * from "./b"; import { A } from "./a"; export const B = A;`,
    });
    expect(descriptors.map((d) => reading(d.id))).toEqual(["unknown"]);
  });

  it("deep nesting, long chains, broken text", () => {
    expect(timed(`const x = ${"[".repeat(100_000)}`).partial).toBe(true);
    expect(timed(`const x = ${"!".repeat(100_000)}1`).descriptors).toEqual([]);
    expect(timed(`const x = ${"a.b(".repeat(300)}1${")".repeat(300)};`).descriptors).toEqual([]);
    expect(timed(`const x = b${".id('x')".repeat(20_000)};`).descriptors).toEqual([]);
    expect(timed(`const x = ${"'a' + ".repeat(20_000)} 'b';`).descriptors).toEqual([]);
    expect(timed(`const x = ${"'a' - 1 + ".repeat(20_000)} 'b';`).descriptors).toEqual([]);
    expect(timed("const { = ;;; `${").partial).toBe(true);
  });

  it("helpers that multiply, recursion, texts that grow", () => {
    const levels = Array.from({ length: 30 }, (_, i) => `const f${i + 1} = (x) => f${i}(x) + f${i}(x);`).join("\n");
    expect(timed(`const f0 = (x) => x;\n${levels}\nexport const y = { id: f30("a"), file: "a.lua" };`).partial).toBe(
      true,
    );
    timed(`const f = (x) => f(x + "a"); export const y = { id: f("a"), file: "a.lua" };`);
    const doubled = Array.from({ length: 40 }, (_, i) => `const s${i + 1} = s${i} + s${i};`).join("\n");
    timed(`const s0 = "0123456789";\n${doubled}\nexport const y = { id: s40, file: "a.lua" };`);
    const lists = Array.from({ length: 40 }, (_, i) => `const l${i + 1} = [...l${i}, ...l${i}];`).join("\n");
    timed(`const l0 = [1, 2];\n${lists}\nexport const y = { id: "a", file: "a.lua", commands: l40 };`);
  });
});
