import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseValue } from "../../src/model/redis/conf-types.js";
import {
  dialect,
  directive,
  directiveServers,
  isIgnoredDirective,
  knownDirectives,
  nearest,
  sentinelOption,
} from "../../src/model/redis/directives.js";

describe("directive tables", () => {
  it("are small", () => {
    const text = readFileSync(new URL("../../schemas/redis/directives.json", import.meta.url), "utf8");
    expect(text.length).toBeLessThan(150_000);
  });

  it("are there for every server that is judged", () => {
    expect(directiveServers()).toEqual([
      "redis-6.2",
      "redis-7.0",
      "redis-7.2",
      "redis-7.4",
      "redis-8.0",
      "valkey-7.2",
      "valkey-8.0",
      "valkey-8.1",
      "valkey-9.1",
    ]);
    for (const server of directiveServers()) expect(knownDirectives(server).length).toBeGreaterThan(150);
    expect(() => dialect("redis-5.0")).toThrow(RangeError);
  });

  it("take a full version, and Debian's build, for the version's table", () => {
    expect(dialect("redis-7.0.15").key).toBe("redis-7.0");
    expect(dialect("redis-7.0-debian")).toMatchObject({ key: "redis-7.0", debian: true });
    expect(dialect("valkey-8.0.1").key).toBe("valkey-8.0");
  });

  it("know names, aliases, bounds and defaults per version", () => {
    expect(directive("redis-7.2", "slave-priority")).toMatchObject({ name: "replica-priority", default: "100" });
    expect(directive("valkey-9.1", "masterauth")?.name).toBe("primaryauth");
    expect(directive("redis-6.2", "enable-debug-command")).toBeUndefined();
    expect(directive("redis-7.0", "enable-debug-command")?.values).toEqual(["no", "yes", "local"]);
    expect(directive("redis-7.2", "io-threads")?.number).toMatchObject({ min: 1n, max: 128n });
    expect(directive("valkey-8.1", "io-threads")?.number?.max).toBe(256n);
    expect(directive("redis-7.2", "port")?.default).toBe("6379");
    expect(directive("redis-6.2", "bind")?.kind).toBe("special");
    expect(isIgnoredDirective("redis-7.0", "lua-replicate-commands")).toBe(true);
    expect(isIgnoredDirective("redis-6.2", "lua-replicate-commands")).toBe(false);
    expect(sentinelOption("redis-6.2", "master-reboot-down-after-period")).toBeUndefined();
    expect(sentinelOption("redis-7.0", "known-sentinel")).toEqual([3, 4]);
    expect(sentinelOption("valkey-8.0", "primary-reboot-down-after-period")).toEqual([2]);
  });

  it("each default is a value that its own directive takes", () => {
    for (const server of directiveServers()) {
      for (const name of knownDirectives(server)) {
        const option = directive(server, name);
        if (option === undefined || option.kind === "special" || option.default === "") continue;
        expect([server, name, parseValue(option, option.default, dialect(server))]).toMatchObject([
          server,
          name,
          { ok: true },
        ]);
      }
    }
  });

  it("say what is nearest", () => {
    const known = knownDirectives("redis-7.2");
    expect(nearest("maxmemmory", known)).toBe("maxmemory");
    expect(nearest("replica-announce-ips", known)).toBe("replica-announce-ip");
    expect(nearest("sentinel_link_buffer_size", known)).toBeUndefined();
  });
});

describe("values", () => {
  const read = (server: string, name: string, text: string): string => {
    const result = parseValue(directive(server, name)!, text, dialect(server));
    return result.ok ? result.value : `! ${result.error}`;
  };

  it.each([
    ["maxmemory", "1gb", "1073741824"],
    ["maxmemory", "1g", "1000000000"],
    ["maxmemory", "100K", "100000"],
    ["maxmemory", "", "0"],
    ["maxmemory", "18446744073709551616", "18446744073709551615"],
    ["maxmemory", "1.5gb", "! argument must be a memory value"],
    ["maxmemory-clients", "5%", "5%"],
    ["maxmemory-clients", "101%", "! percentage argument must be less or equal to 100"],
    ["port", "007", "! argument couldn't be parsed into an integer"],
    ["port", "65536", "! argument must be between 0 and 65535 inclusive"],
    ["timeout", "0", "0"],
    ["list-max-listpack-size", "-2", "-2"],
    ["unixsocketperm", "0755", "755"],
    ["unixsocketperm", "1777", "! argument must be between 0 and 777 inclusive"],
    ["appendonly", "Yes", "yes"],
    ["appendonly", "true", "! argument must be 'yes' or 'no'"],
    ["appendfsync", "EVERYSEC", "everysec"],
    ["appendfsync", "never", "! argument(s) must be one of the following: everysec, always, no"],
    ["appenddirname", "a/b", "! appenddirname can't be a path, just a dirname"],
    ["cluster-announce-hostname", "a_b", "! Hostnames may only contain alphanumeric characters, hyphens or dots"],
    ["proc-title-template", "{title} {nosuch}", "! template format is invalid or contains unknown variables"],
  ])("redis 7.2: %s %s", (name, text, expected) => {
    expect(read("redis-7.2", name, text)).toBe(expected);
  });

  it("redis 6.2 and Debian differ where they do", () => {
    expect(read("redis-6.2", "maxmemory", "-1")).toBe("! argument must be a memory value");
    expect(read("redis-6.2", "appendfsync", "x")).toMatch(/^! argument must be one of/);
    expect(read("redis-6.2", "appendfilename", "")).toBe("");
    expect(read("redis-7.0", "activedefrag", "yes")).toBe("yes");
    expect(read("redis-7.0-debian", "activedefrag", "yes")).toMatch(/^! Active defragmentation cannot be enabled/);
  });
});
