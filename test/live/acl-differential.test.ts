/**
 * Seeded random ACL files, each loaded into a real server on loopback: verdict, error text, ACL GETUSER of every user and
 * ACL DRYRUN of random calls must be what the evaluator says. A file that crashes the server gets a new process after it.
 * `ACL_FILES` and `ACL_SEED` make a longer run.
 */
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { packTables } from "../../src/dev/redis-tables.js";
import { CommandTable } from "../../src/model/redis/commands.js";
import { commandTable } from "../../src/model/redis/servers.js";
import { compare } from "./acl-compare.js";
import { aclFile, calls } from "./acl-files.js";
import { AclServer, installedServer, serverBinary } from "./acl-server.js";

const FILES = Number(process.env["ACL_FILES"] ?? 500);
const SEED = Number(process.env["ACL_SEED"] ?? 20261);

const binary = serverBinary();
const wanted = process.env["CI"] !== undefined;
if (binary === undefined && !wanted) console.log("acl-differential: no redis-server here, nothing is compared");

describe.runIf(binary !== undefined || wanted)("random ACL files", () => {
  const server = new AclServer(binary ?? "redis-server");
  afterAll(() => server.stop());

  it("are judged with the command table that the server has", async () => {
    const id = installedServer(binary!);
    const shipped = commandTable(id);
    if (shipped === undefined) throw new Error(`no table of ${id} ships`);
    const packed = packTables(new Map([[id, await server.table()]]));
    const own = CommandTable.unpack(id, packed, packed.servers[id]!);
    const rows = (table: CommandTable) =>
      table.commands
        .map(({ name, arity, flags, categories, specs }) => ({
          name,
          arity,
          flags: [...flags].sort(),
          categories,
          specs,
        }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    expect(rows(own)).toEqual(rows(shipped));
  });

  it(`agree with the server on ${FILES} files`, async () => {
    expect(binary, "CI needs redis-server").toBeDefined();
    const name = installedServer(binary!);
    const seen = { loaded: 0, refused: 0, crashed: 0, calls: 0 };
    await fc.assert(
      fc.asyncProperty(aclFile, calls, async (text, runs) => {
        const outcome = await server.load(text, runs);
        if (outcome.crash === true) seen.crashed++;
        else if (outcome.error !== undefined) seen.refused++;
        else {
          seen.loaded++;
          seen.calls += outcome.runs!.length;
        }
        expect(compare(text, runs, outcome, name)).toEqual([]);
      }),
      { numRuns: FILES, seed: SEED },
    );
    // The generator is no use when it only makes refused files.
    expect(seen.loaded).toBeGreaterThan(FILES / 5);
    expect(seen.refused).toBeGreaterThan(FILES / 10);
    expect(seen.calls).toBeGreaterThan(FILES);
  }, 600_000);
});
