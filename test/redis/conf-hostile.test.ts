// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseConf } from "../../src/document/redis-conf.js";
import { judgeConf, loadConf } from "../../src/model/redis/conf.js";
import { directiveServers } from "../../src/model/redis/directives.js";
import { Source, TextView } from "../../src/text/source.js";

/** CPU time, not wall time: the test may share its machine. */
function spent(work: () => void): number {
  const from = process.cpuUsage();
  work();
  const { user } = process.cpuUsage(from);
  return user / 1000;
}

const MEGABYTE = 1024 * 1024;
const fill = (text: string, megabytes = 2): string => text.repeat(Math.ceil((megabytes * MEGABYTE) / text.length));

const TEXTS: Record<string, () => string> = {
  "a million lines": () => Array.from({ length: 1_000_000 }, (_, i) => `timeout ${i % 1000}`).join("\n"),
  "unknown names": () => Array.from({ length: 200_000 }, (_, i) => `nosuch${i} 1`).join("\n"),
  "a line of words": () => `requirepass ${fill("a ", 10)}`,
  "open quotes": () => fill('"\n', 0.5),
  "one open quote": () => `requirepass "${fill("\\x41")}`,
  NULs: () => fill("timeout 1\0\n"),
  "opening marks": () => fill("{{"),
  "opening braces": () => fill("${a"),
  "a long number": () => `timeout ${fill("9")}`,
  users: () => fill("user a on >p ~* +@all\n"),
  monitors: () => fill("sentinel monitor m 127.0.0.1 6379 2\n"),
  "unmonitored names": () => fill("sentinel auth-pass zz p\n"),
  includes: () => fill("include x.conf\n"),
};

describe("hostile texts", () => {
  it.each(Object.keys(TEXTS))("%s", (name) => {
    const text = TEXTS[name]!();
    for (const templates of text.length > 8 * MEGABYTE ? [false] : [false, true]) {
      const mode = templates ? "sentinel" : "data";
      const ms = spent(() => {
        const document = parseConf(new TextView(new Source("c", text)), { templates });
        const include = () => [document];
        const { findings } = judgeConf(document, { server: "redis-7.2", mode, include });
        expect(findings.length).toBeLessThanOrEqual(1000);
      });
      // Two seconds are the promise for 10 MB on a quiet machine; the suite's machine is not.
      expect(ms).toBeLessThan(6000);
    }
  });

  it("includes that multiply end", () => {
    const text = "include a\ninclude a\ninclude a\n";
    const read = () => parseConf(new TextView(new Source("a", text)), { templates: false });
    const result = loadConf({ server: "redis-7.2", mode: "data", documents: read(), include: () => [read()] });
    expect(result.loads).not.toBe(true);
  });

  it("no text throws, and every place is in its file", () => {
    const word = fc.constantFrom(
      "sentinel",
      "monitor",
      "user",
      "save",
      "bind",
      "port",
      "include",
      "rename-command",
      "auth-pass",
      "m",
      "0",
      "yes",
      "127.0.0.1",
      '"',
      "'",
      "\\",
      "#",
      "${A}",
      "{{ if x }}",
      "{{ end }}",
      "<X>",
      "\0",
      "\n",
      "\n",
      " ",
      "\r\n",
      "(",
      ")",
      ">p",
      "+@all",
      "\uFEFF",
      "é",
      "💥",
      "client-output-buffer-limit",
      "replicaof",
      "loadmodule",
      "a.b",
    );
    const text = fc.array(fc.oneof(word, fc.string({ maxLength: 6 })), { maxLength: 40 }).map((w) => w.join(" "));
    fc.assert(
      fc.property(
        text,
        fc.constantFrom(...directiveServers()),
        fc.boolean(),
        fc.boolean(),
        (t, server, templates, sentinel) => {
          const source = new Source("c", t);
          const document = parseConf(new TextView(source), { templates });
          const { findings, values } = loadConf({ server, mode: sentinel ? "sentinel" : "data", documents: document });
          for (const { at } of findings) expect(at.start <= at.end && at.end <= t.length && at.start >= 0).toBe(true);
          for (const line of document.lines)
            for (const w of line.words) expect(source.slice(w.at).length > 0).toBe(true);
          values.get("port");
        },
      ),
      { numRuns: 1500, seed: 4711 },
    );
  });
});
