/** Deployments that were run on real servers: the ACL rules find an error exactly where the failover died of an ACL or its wiring. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { rules } from "../../rules/index.js";
import { Glob } from "../../src/contract/glob.js";
import { lintContract } from "../../src/engine/lint.js";
import { buildContract } from "../../src/model/build.js";
import { InputFile } from "../../src/model/input.js";
import { CONTROL, PEER, REPLICA } from "../../src/model/redis/roles-data.js";
import { Source } from "../../src/text/source.js";
import { hasShared, shared, TODAY } from "../support.js";

interface Experiment {
  readonly id: string;
  readonly files: Readonly<Record<string, string>>;
  readonly outcomes: readonly {
    readonly server: string;
    readonly replicasLinked: boolean;
    readonly sentinelsConverged: boolean;
    readonly failover: boolean;
    readonly oldPrimaryRejoins: boolean | null;
  }[];
}

const RULES = rules.filter((r) => /^acl\/(?!script)/.test(r.id));

function findings(files: Experiment["files"], version: string): { severity: string; text: string }[] {
  const inputs = Object.entries(files)
    .map(([name, text]) => new InputFile(new Source(name, text), name.endsWith(".acl") ? "acl" : "conf"))
    .sort((a, b) => (a.file < b.file ? -1 : 1));
  const contract = buildContract({
    name: "experiment",
    // as without a contract file: severities follow what was measured
    declared: false,
    config: {
      redis: { minimumVersion: version },
      planes: {
        data: { config: "data*/redis.conf", acl: "data*/users.acl" },
        sentinel: { config: "sentinel*/sentinel.conf", acl: "sentinel*/users.acl" },
      },
    },
    configDocument: undefined,
    configPath: [],
    files: inputs,
    match: (pattern) => {
      const glob = new Glob(pattern);
      return inputs.filter((f) => glob.matches(f.file));
    },
    today: TODAY,
    setting: () => ({ severity: undefined, options: {} }),
  });
  const run = lintContract(contract, { rules: RULES });
  expect(run.crashes.map((c) => c.error.stack)).toEqual([]);
  return run.diagnostics.map((d) => ({
    severity: d.severity,
    text: `${d.rule} (${d.messageId}) ${d.at.source.file}: ${d.message}`,
  }));
}

describe.runIf(hasShared("truth/failover"))("recorded failovers", () => {
  const file = join(shared, "truth/failover/experiments.jsonl");
  const read = (): Experiment[] =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Experiment);
  const all = hasShared("truth/failover") ? read() : [];

  // what TLS breaks is the redis pack's matter
  for (const { id, files, outcomes } of all.filter((e) => !e.id.startsWith("tls-"))) {
    it(id, () => {
      for (const o of outcomes) {
        const version = o.server.replace(/^(\w+-\d+\.\d+).*/, "$1");
        const works = outcomes.every((x) => x.failover && x.oldPrimaryRejoins !== false);
        const errors = findings(files, version).filter((f) => f.severity === "error");
        expect({ server: o.server, errors: works ? errors : errors.length > 0 }).toEqual({
          server: o.server,
          errors: works ? [] : true,
        });
      }
    });
  }

  it("every recording that the role data name is there, and says what they say", () => {
    const byId = new Map(all.map((e) => [e.id, e]));
    for (const { command, necessity, recording } of [...REPLICA.commands, ...CONTROL.commands, ...PEER.commands]) {
      const experiment = recording === undefined ? undefined : byId.get(recording);
      if (experiment === undefined) continue;
      const died = experiment.outcomes.every((o) => !o.failover);
      expect({ command, died }).toEqual({ command, died: necessity === "always" || necessity === "with-multi" });
    }
  });
});
