import { describe, expect, it } from "vitest";
import { literal, show } from "../../src/model/shell/index.js";
import { sedCommands } from "../../src/model/shell/sed.js";
import { sedPattern } from "../../src/model/shell/sed-pattern.js";

const LINES = [
  "# port 6380",
  "port 0",
  "tls-port 6379",
  "appendonly yes",
  "save 900 1",
  'requirepass "a b"',
  "port",
  "\tport 1",
];

/** What sed makes of these lines; recorded from GNU sed 4.9. `true`: with `-E`. */
const RECORDED: readonly [script: string, extended: boolean, out: readonly string[]][] = [
  [
    "s/^port .*/port 6379/",
    false,
    [
      "# port 6380",
      "port 6379",
      "tls-port 6379",
      "appendonly yes",
      "save 900 1",
      'requirepass "a b"',
      "port",
      "\tport 1",
    ],
  ],
  [
    "s|^port .*$|port 6379|g",
    false,
    [
      "# port 6380",
      "port 6379",
      "tls-port 6379",
      "appendonly yes",
      "save 900 1",
      'requirepass "a b"',
      "port",
      "\tport 1",
    ],
  ],
  [
    "s/^port\\s\\+.*/port 1/",
    false,
    ["# port 6380", "port 1", "tls-port 6379", "appendonly yes", "save 900 1", 'requirepass "a b"', "port", "\tport 1"],
  ],
  [
    "s/^port +.*/port 1/",
    true,
    ["# port 6380", "port 1", "tls-port 6379", "appendonly yes", "save 900 1", 'requirepass "a b"', "port", "\tport 1"],
  ],
  [
    "s/^[[:space:]]*port[ \\t].*$/port 2/",
    false,
    ["# port 6380", "port 2", "tls-port 6379", "appendonly yes", "save 900 1", 'requirepass "a b"', "port", "port 2"],
  ],
  [
    "s/^(tls-)?port .*/timeout 1/",
    true,
    ["# port 6380", "timeout 1", "timeout 1", "appendonly yes", "save 900 1", 'requirepass "a b"', "port", "\tport 1"],
  ],
  [
    "s/^\\(tls-port\\|port\\) .*/timeout 1/",
    false,
    ["# port 6380", "timeout 1", "timeout 1", "appendonly yes", "save 900 1", 'requirepass "a b"', "port", "\tport 1"],
  ],
  [
    's/^save.*/save ""/',
    false,
    ["# port 6380", "port 0", "tls-port 6379", "appendonly yes", 'save ""', 'requirepass "a b"', "port", "\tport 1"],
  ],
  [
    "/^port /d",
    false,
    ["# port 6380", "tls-port 6379", "appendonly yes", "save 900 1", 'requirepass "a b"', "port", "\tport 1"],
  ],
  ["/port/d", false, ["appendonly yes", "save 900 1", 'requirepass "a b"']],
  [
    "/^tls-port /c tls-port 1",
    false,
    ["# port 6380", "port 0", "tls-port 1", "appendonly yes", "save 900 1", 'requirepass "a b"', "port", "\tport 1"],
  ],
  [
    "/^tls-port /c\\\ntls-port 1",
    false,
    ["# port 6380", "port 0", "tls-port 1", "appendonly yes", "save 900 1", 'requirepass "a b"', "port", "\tport 1"],
  ],
  [
    "/^appendonly/s/.*/appendonly no/",
    false,
    ["# port 6380", "port 0", "tls-port 6379", "appendonly no", "save 900 1", 'requirepass "a b"', "port", "\tport 1"],
  ],
  [
    "/^appendonly /s/^.*$/appendonly no/",
    false,
    ["# port 6380", "port 0", "tls-port 6379", "appendonly no", "save 900 1", 'requirepass "a b"', "port", "\tport 1"],
  ],
  [
    "s/^requirepass.*/requirepass x\\nmasterauth x/",
    false,
    [
      "# port 6380",
      "port 0",
      "tls-port 6379",
      "appendonly yes",
      "save 900 1",
      "requirepass x",
      "masterauth x",
      "port",
      "\tport 1",
    ],
  ],
  [
    "s/^app[a-z]*only .*/appendonly no/",
    false,
    ["# port 6380", "port 0", "tls-port 6379", "appendonly no", "save 900 1", 'requirepass "a b"', "port", "\tport 1"],
  ],
  [
    "s/^port [0-9]*.*/port 5/",
    false,
    ["# port 6380", "port 5", "tls-port 6379", "appendonly yes", "save 900 1", 'requirepass "a b"', "port", "\tport 1"],
  ],
  [
    "s/^(port|save) .*/x/",
    true,
    ["# port 6380", "x", "tls-port 6379", "appendonly yes", "x", 'requirepass "a b"', "port", "\tport 1"],
  ],
  [
    "s/^po.t .*/port 5/",
    false,
    ["# port 6380", "port 5", "tls-port 6379", "appendonly yes", "save 900 1", 'requirepass "a b"', "port", "\tport 1"],
  ],
  [
    "/^save/d;s/^port .*/port 3/",
    false,
    ["# port 6380", "port 3", "tls-port 6379", "appendonly yes", 'requirepass "a b"', "port", "\tport 1"],
  ],
];

describe("whole lines", () => {
  it.each(RECORDED)("%s", (script, extended, out) => {
    let lines: readonly string[] = LINES;
    for (const { whole } of sedCommands(literal(script), extended)) {
      expect(whole).toBeDefined();
      lines = lines.flatMap((line) =>
        whole!.matches.test(line)
          ? whole!.replacement === undefined
            ? []
            : show(whole!.replacement).split("\n")
          : line,
      );
    }
    expect(lines).toEqual(out);
  });

  it.each([
    ["a comment may become a line", "s/^#* *port .*/port 1/"],
    ["a comment may become a line, by its address", "/port/c port 1"],
    ["what was found goes on", "s/^port .*/& # kept/"],
    ["a group goes on", "s/^port \\(.*\\)/port 1\\1/"],
    ["a part of a line", "s/^port/port 1/"],
    ["not at the beginning", "s/port .*/port 1/"],
    ["only the second", "s/^port .*/port 1/2"],
    ["whatever the case", "s/^port .*/port 1/I"],
    ["alternatives of the whole", "s/^port .*\\|^bind .*/port 1/"],
    ["a repeated group", "s/^\\(po\\)*rt .*/port 1/"],
    ["a count", "s/^port \\{1,3\\}.*/port 1/"],
    ["a back-reference", "s/^\\(p\\)\\1.*/port 1/"],
    ["all but", "/^port /!d"],
    ["a range", "/^port /,/^save /d"],
    ["a numbered line", "2d"],
  ])("are not taken for such: %s", (_, script) => {
    expect(sedCommands(literal(script)).every((command) => command.whole === undefined)).toBe(true);
  });

  it("are matched in bounded time", () => {
    for (const pattern of [`^${"a*".repeat(20)}b.*`, `^${"(a|aa)+".repeat(3)}.*`, `^a${"x".repeat(300)}`])
      expect(sedPattern(pattern, true)).toBeUndefined();
    const slow = sedPattern(`^${"a*".repeat(4)}b.*`, false)!;
    const started = process.cpuUsage().user;
    expect(slow.expression.test("a".repeat(200))).toBe(false);
    expect(process.cpuUsage().user - started).toBeLessThan(3_000_000);
  });
});
