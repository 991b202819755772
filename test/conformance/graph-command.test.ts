/** The recorded lists of another analyzer, through the command as a user types it. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { quorumlint } from "../cli/run.js";
import { hasShared, shared } from "../support.js";

interface Graph {
  readonly version: 1;
  readonly edges: readonly {
    readonly from: string;
    readonly to: string;
    readonly connections: readonly { readonly protocol: string; readonly ports: string }[];
  }[];
}

const folder = join(shared, "conformance", "netpol");
const cases = hasShared("conformance/netpol")
  ? readdirSync(folder).filter((name) => existsSync(join(folder, name, "expected.txt")))
  : [];

/** The other tool's convention for connections. */
function conventional(connections: Graph["edges"][number]["connections"]): string {
  if (connections.length === 3 && connections.every(({ ports }) => ports === "1-65535")) return "All Connections";
  return connections.map(({ protocol, ports }) => `${protocol} ${ports}`).join(",");
}

describe.runIf(cases.length > 0)("quorumlint graph --format json", () => {
  it.each(cases)("%s", (name) => {
    const run = quorumlint(["graph", join(folder, name), "--format", "json"]);
    expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: "" });
    const { version, edges } = JSON.parse(run.stdout) as Graph;
    expect(version).toBe(1);
    const lines = edges.map(({ from, to, connections }) => `${from} => ${to} : ${conventional(connections)}`);
    const expected = readFileSync(join(folder, name, "expected.txt"), "utf8")
      .split("\n")
      .filter((line) => line.trim() !== "" && !line.includes("{"));
    expect(lines.sort()).toEqual(expected.sort());
  });
});
