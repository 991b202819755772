import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Connection } from "../../src/model/kubernetes/connections.js";
import { buildNetwork } from "../../src/model/kubernetes/network.js";
import { networkInputFromObjects } from "../../src/model/kubernetes/network-input.js";

const folder = fileURLToPath(new URL("../../../shared/conformance/netpol/", import.meta.url));
const present = existsSync(folder);
if (!present) console.log("conformance/netpol: the foreign test data is not here, its cases are left out");

/** The other tool's convention: all ports of all protocols are "All Connections", else `TCP 1-2,8,UDP 53`. */
function conventional(connections: readonly Connection[]): string {
  if (connections.length === 3 && connections.every(({ ports }) => ports === "1-65535")) return "All Connections";
  return connections.map(({ protocol, ports }) => `${protocol} ${ports}`).join(",");
}

function load(directory: string): { value: unknown }[] {
  return readdirSync(directory)
    .filter((name) => /\.(?:ya?ml|json)$/.test(name))
    .sort()
    .flatMap((name) => parseAllDocuments(readFileSync(`${directory}/${name}`, "utf8")))
    .map((document) => ({ value: document.toJS() as unknown }));
}

describe.runIf(present)("connectivity equals the recorded lists of another analyzer", () => {
  for (const name of present
    ? readdirSync(folder).filter((entry) => existsSync(`${folder}${entry}/expected.txt`))
    : []) {
    it(name, () => {
      const expected = readFileSync(`${folder}${name}/expected.txt`, "utf8")
        .split("\n")
        .filter((line) => line.trim() !== "" && !line.includes("{"));
      const lines = buildNetwork(networkInputFromObjects(load(folder + name)))
        .edges()
        .map(({ from, to, connections }) => `${from} => ${to} : ${conventional(connections)}`);
      expect(lines.sort()).toEqual(expected.sort());
    });
  }
});
