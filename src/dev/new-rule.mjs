/** `npm run new -- pack/rule`: the two hand-written files of a rule. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

function scaffold(root, id) {
  if (!/^[a-z][a-z0-9-]*\/[a-z][a-z0-9-]*$/.test(id)) {
    console.error(`"${id}" is no rule id: it is pack/rule in kebab case, for example k8s/exec-probe`);
    return 2;
  }
  const rule = join(root, "rules", `${id}.ts`);
  const fixture = join(root, "fixtures", `${id}.ts`);
  if (existsSync(rule) || existsSync(fixture)) {
    console.error(`${id} exists already`);
    return 2;
  }
  for (const [file, text] of [
    [rule, RULE],
    [fixture, FIXTURE],
  ]) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.log(file);
  }
  console.log("then: npm run gen");
  return 0;
}

const RULE = `import { defineRule } from "../../src/engine/rule.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "What the rule promises, in one line.",
    why: "What breaks in a running deployment without it.",
    fix: "What would be right.",
    bad: "# the smallest text that breaks it\\n",
    good: "# the same text, right\\n",
    source: { title: "The document or recording that this stands on", url: "https://kubernetes.io/docs/" },
    rows: [],
  },
  messages: {
    wrong: "{object} is wrong",
  },
  on: {
    Workload(workload, { report }) {
      if (workload.get("spec", "paused") === true) report("wrong", { object: workload.title }, workload.at("spec", "paused"));
    },
  },
});
`;

const FIXTURE = `import { after, defineFixture } from "../../src/mutation/fixture.js";

export default defineFixture({
  killed: [{ mutant: "what is wrong", edit: after("infra/redis-lab/k3s/redis-data.yaml", "anchor text", "text"), by: "wrong", at: "text at the place" }],
  silent: [{ name: "what looks alike and is right", edit: after("infra/redis-lab/k3s/redis-data.yaml", "anchor text", "text") }],
});
`;

process.exitCode = scaffold(process.cwd(), process.argv[2] ?? "");
