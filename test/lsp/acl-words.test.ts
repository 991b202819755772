/** What a word is said to grant is what a user with it may do, for every category and command of every server. */
import { describe, expect, it } from "vitest";
import { load } from "../../src/model/redis/acl.js";
import { meaningOf } from "../../src/model/redis/acl-words.js";
import { commandTable, serverNames } from "../../src/model/redis/servers.js";

describe.each(serverNames)("%s", (server) => {
  const table = commandTable(server)!;
  const granted = (rules: string): string[] => {
    const loaded = load(`user a on nopass -@all ${rules}\n`, { server });
    expect(loaded.ok).toBe(true);
    const user = loaded.users.get("a")!;
    return table.commands.filter((c) => user.may(c.name)).map((c) => c.name);
  };

  it("categories", () => {
    expect(table.categories.length).toBeGreaterThan(15);
    // AUTH and the like need no permission
    const always = granted("");
    for (const category of table.categories) {
      const { commands, text } = meaningOf(`+@${category}`, table)!;
      expect(text).toContain(`the ${commands.length} commands`);
      const may = granted(`+@${category}`);
      for (const command of commands) expect(may, `${category} ${command}`).toContain(command);
      // a container counts as allowed where a subcommand is
      const parents = new Set(commands.map((c) => c.split("|")[0]!));
      for (const command of may.filter((c) => !always.includes(c)))
        expect(commands.includes(command) || parents.has(command), `${category} ${command}`).toBe(true);
    }
  });

  it("commands, subcommands, and what the server refuses", () => {
    expect(meaningOf("+get", table)!.text).toContain("Grants `get`");
    expect(meaningOf("-GET", table)!.text).toContain("Takes away `get`");
    const sub = meaningOf("+config|get", table)!.text;
    expect(sub).toContain(table.modern ? "Grants `config|get`" : "with the first argument `get`");
    for (const [word, text] of [
      ["+@nothing", "has no category"],
      ["+gett", "has no command"],
    ] as const) {
      expect(meaningOf(word, table)!.text).toContain(text);
      expect(load(`user a on nopass ${word}\n`, { server }).ok).toBe(false);
    }
  });
});

describe("other words", () => {
  const table = commandTable("redis-7.2")!;
  it.each([
    ["on", "may authenticate"],
    ["NOPASS", "Any password"],
    ["~a:*", "match `a:*`, to read and write"],
    ["%R~a:*", "to read only"],
    ["%W~a:*", "to write only"],
    ["&news.*", "Pub/Sub channels that match"],
    [">secret", "clear text"],
    ["allkeys", "All keys"],
    ["+@all", "all 3"],
    ["-@all", "Takes away all"],
  ])("%s", (word, text) => expect(meaningOf(word, table)!.text).toContain(text));

  it("placeholders are unknown, never wrong; what is no rule has no meaning", () => {
    expect(meaningOf("${RULES}", table, true)!.text).toContain("unknown until");
    expect(meaningOf(">${PW}", table, true)!.text).toContain("filled in later");
    expect(meaningOf("hello", table)).toBeUndefined();
  });
});
