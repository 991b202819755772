/** The programs of the golden contract, read with their manifests. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseTree } from "jsonc-parser";
import type { JsonNode } from "../../src/document/json.js";
import { type ManifestProgram, type ProgramSet, readProgramSet } from "../../src/model/program/manifest.js";
import { Source, TextView } from "../../src/text/source.js";

export const LAB = fileURLToPath(new URL("../../fixtures/redis-lab", import.meta.url));
export const ACL_FILE = join(LAB, "infra/redis-lab/config/redis-users.acl.tmpl");

export const sets: readonly { readonly file: string; readonly set: ProgramSet }[] = ["foundation", "rate"].map(
  (name) => {
    const file = join(LAB, "src/main/resources/redis", name, "program-set.json");
    const text = readFileSync(file, "utf8");
    return { file, set: readProgramSet(new TextView(new Source(file, text)), parseTree(text) as JsonNode) };
  },
);

export interface GoldenProgram {
  readonly id: string;
  readonly program: ManifestProgram;
  /** Path of the script. */
  readonly script: string;
  readonly text: string;
}

export const programs: readonly GoldenProgram[] = sets.flatMap(({ file, set }) =>
  set.programs.map((program) => {
    const script = join(dirname(file), program.file!.value);
    return { id: program.id!.value, program, script, text: readFileSync(script, "utf8") };
  }),
);
