// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
/** Whole lints of texts that nobody writes: four times the text takes about four times the work, and nothing crashes. */
import { describe, expect, it } from "vitest";
import { checkTree, tree } from "../support.js";

type Files = Readonly<Record<string, string>>;

const many = (count: number, make: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join("");
const acl = (text: string): Files => ({
  "redis.conf.tmpl": "aclfile /acl/users.acl\nmasteruser a\nmasterauth ${A}\n",
  "sentinel.conf.tmpl":
    "sentinel monitor main 10.0.0.1 6379 2\nsentinel auth-user main a\nsentinel auth-pass main ${A}\n",
  "users.acl.tmpl": `user default off\n${text}\n`,
});
const rules = (text: string): Files => acl(`user a on >\${A} ${text}`);
const sentinel = (text: string): Files => ({
  "redis.conf.tmpl": "requirepass ${A}\n",
  "sentinel.conf.tmpl": `sentinel monitor main 10.0.0.1 6379 2\n${text}`,
});

/** Each once was, or easily is, quadratic. The number is the smaller of the two sizes. */
const KINDS: Readonly<Record<string, readonly [number, (n: number) => Files]>> = {
  commands: [20_000, (n) => rules(many(n, (i) => (i % 2 === 0 ? "+get " : "-get ")))],
  "first arguments": [6000, (n) => rules(many(n, (i) => `+select|${i} `))],
  "first arguments taken back": [6000, (n) => rules(`${many(n, (i) => `+select|${i} `)}-select`)],
  "placeholders for rules": [8000, (n) => rules(many(n, (i) => `\${X${i}} `))],
  "placeholders in commands": [8000, (n) => rules(many(n, (i) => `+\${X${i}} -@\${Y${i}} `))],
  "template statements on a line": [6000, (n) => rules(many(n, () => "{{ if x }} +get {{ end }} "))],
  "key patterns": [10_000, (n) => rules(`+get ${many(n, (i) => `~k${i}:* `)}`)],
  "channel patterns taken back": [10_000, (n) => rules(`+publish ${many(n, (i) => `&k${i} `)}resetchannels`)],
  passwords: [8000, (n) => rules(`+get ~k ${many(n, (i) => `>p${i} `)}`)],
  selectors: [6000, (n) => rules(many(n, (i) => `(+get -set ~k${i}) `))],
  "empty selectors": [20_000, (n) => rules(many(n, () => "() "))],
  "an open selector": [30_000, (n) => rules(many(n, () => "( "))],
  "a class without end": [60_000, (n) => rules(`+get ~${"[".repeat(n)}`)],
  stars: [30_000, (n) => rules(`+get ~${"*a".repeat(n)}`)],
  blanks: [60_000, (n) => acl(`user a${" ".repeat(n)}on`)],
  users: [3000, (n) => acl(many(n, (i) => `user u${i} on >p${i} ~k${i}:* -@all +@read +set\n`))],
  "refused users": [3000, (n) => acl(many(n, (i) => `user u${i} on +nosuch\n`))],
  "one user many times": [5000, (n) => acl(many(n, () => "user a on nopass +get\n"))],
  "snapshot points": [4000, (n) => ({ "redis.conf.tmpl": many(n, (i) => `save ${i + 1} 1\n`) })],
  escapes: [40_000, (n) => ({ "redis.conf.tmpl": `requirepass "${"\\x41".repeat(n)}"\n` })],
  "open quotes": [8000, (n) => ({ "redis.conf.tmpl": many(n, () => 'requirepass "x\n') })],
  primaries: [4000, (n) => sentinel(many(n, (i) => `sentinel monitor m${i} 10.0.0.1 6379 2\n`))],
  "secrets of primaries that nobody monitors": [4000, (n) => sentinel(many(n, (i) => `sentinel auth-pass m${i} x\n`))],
  renames: [4000, (n) => sentinel(many(n, (i) => `sentinel rename-command main C${i} D${i}\n`))],
};

/** CPU milliseconds of the better of two runs: the machine is shared. */
async function spent(files: Files): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 2; run++) {
    const from = process.cpuUsage();
    const { result, faults } = await checkTree(tree(files));
    best = Math.min(best, process.cpuUsage(from).user / 1000);
    expect(faults).toEqual([]);
    expect(result.crashes.map((c) => c.error.stack)).toEqual([]);
    const kinds = new Map<string, number>();
    for (const d of result.diagnostics) {
      const key = `${d.rule} ${d.messageId}`;
      kinds.set(key, (kinds.get(key) ?? 0) + 1);
    }
    expect(Math.max(0, ...kinds.values())).toBeLessThanOrEqual(1000);
  }
  return best;
}

describe("hostile texts, linted", () => {
  it.each(Object.entries(KINDS))("%s", { timeout: 60_000 }, async (_, [size, make]) => {
    // a quadratic part would make sixteen times of it, however often it is measured; what is short is noise
    let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let round = 0; round < 4 && !(large < 300 || large / small < 9); round++) {
      small = Math.min(small, await spent(make(size)));
      large = Math.min(large, await spent(make(4 * size)));
    }
    expect(large < 300 || large / small < 9, `${small.toFixed(0)} ms, ${large.toFixed(0)} ms`).toBe(true);
  });

  it("says how many findings it does not show", async () => {
    const files = acl(many(1500, (i) => `user u${i} on >p${i} ~k +get\n`));
    const declared = {
      ...files,
      "quorumlint.yaml":
        "version: 1\ncontracts:\n  lab:\n    planes:\n      data: { config: redis.conf.tmpl, acl: users.acl.tmpl }\n      sentinel: { config: sentinel.conf.tmpl }\n",
    };
    const { result, faults } = await checkTree(tree(declared));
    expect(faults).toEqual([]);
    const shown = result.diagnostics.filter((d) => d.rule === "acl/credential" && d.messageId === "password");
    expect(shown).toHaveLength(1000);
    expect(shown.map((d) => d.message).filter((m) => m.includes("more of"))).toEqual([
      "the password of u999 stands here in plain text (and 500 more of this kind)",
    ]);
  });

  it("reads no configuration that fits in no ConfigMap, and says so", async () => {
    const files = { ...acl(many(70_000, (i) => `user u${i} on nopass\n`)), "big.conf": "save 900 1\n".repeat(100_000) };
    const { result } = await checkTree(tree({ ...files, "quorumlint.yaml": "" }));
    const declared = await checkTree(tree(files));
    expect(result.crashes).toEqual([]);
    expect(
      declared.result.diagnostics.filter((d) => d.messageId === "unreadable").map((d) => [d.rule, d.message]),
    ).toEqual([
      ["redis/syntax", "the file has 1.1 MiB; at most 1 MiB are read"],
      ["acl/syntax", "the file has 1.5 MiB; at most 1 MiB are read"],
    ]);
  });
});
