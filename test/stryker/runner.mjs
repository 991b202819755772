/** StrykerJS plugins: the test runner that proves rules by their fixtures, and what is not worth a mutant. */
import { PluginKind, declareFactoryPlugin, declareValuePlugin, tokens } from "@stryker-mutator/api/plugin";
import {
  DryRunStatus,
  MutantRunStatus,
  TestStatus,
  determineHitLimitReached,
  toMutantRunResult,
} from "@stryker-mutator/api/test-runner";
import { compileRule, loadBase, readBase, readText, ruleFiles, ruleId } from "./bundle.mjs";

const space = (globalThis.__stryker__ ??= {});

class FixtureRunner {
  /** Works in the sandbox, which is the current folder. */
  root = process.cwd();
  /** The cases of the rule that was mutated last. */
  loaded = { rule: "", cases: [] };

  capabilities() {
    return { reloadEnvironment: true };
  }

  async init() {
    const { modules, casesOf, loadCase, judge } = await loadBase(this.root);
    this.casesOf = casesOf;
    this.loadCase = loadCase;
    this.judge = judge;
    this.base = readBase(this.root);
    this.make = new Map();
    for (const file of ruleFiles(this.root))
      this.make.set(ruleId(file), await compileRule(file, readText(this.root, file), modules));
    this.rules = [...this.make.values()].map((make) => make());
  }

  async cases(rule) {
    if (this.loaded.rule !== rule) {
      this.loaded = { rule, cases: [] };
      const ids = [...this.make.keys()];
      const cases = [];
      for (const c of this.casesOf(rule)) cases.push(await this.loadCase(c, ids, this.base));
      this.loaded = { rule, cases };
    }
    return this.loaded.cases;
  }

  async prove(rule, wanted, bail) {
    const tests = [];
    for (const c of await this.cases(rule.id)) {
      if (wanted !== undefined && !wanted.has(c.id)) continue;
      const start = performance.now();
      space.currentTestId = c.id;
      const failure = await this.judge(rule, c, this.rules).catch((error) => `crashed: ${error.message}`);
      space.currentTestId = undefined;
      tests.push({
        id: c.id,
        name: c.id,
        timeSpentMs: performance.now() - start,
        ...(failure === undefined
          ? { status: TestStatus.Success }
          : { status: TestStatus.Failed, failureMessage: failure }),
      });
      if (bail && failure !== undefined) break;
    }
    return tests;
  }

  async dryRun({ files }) {
    const wanted = new Set((files ?? []).map((f) => ruleId(f.slice(this.root.length + 1))));
    const tests = [];
    for (const rule of this.rules) if (wanted.has(rule.id)) tests.push(...(await this.prove(rule, undefined, false)));
    return { status: DryRunStatus.Complete, tests, mutantCoverage: space.mutantCoverage };
  }

  async mutantRun({ activeMutant, sandboxFileName, mutantActivation, testFilter, hitLimit, disableBail }) {
    const id = ruleId(sandboxFileName.slice(this.root.length + 1));
    await this.cases(id);
    space.hitCount = hitLimit === undefined ? undefined : 0;
    space.hitLimit = hitLimit;
    let tests;
    try {
      let rule;
      if (mutantActivation === "static") {
        space.activeMutant = activeMutant.id;
        try {
          rule = this.make.get(id)();
        } catch (error) {
          return { status: MutantRunStatus.Error, errorMessage: `does not load: ${error.message}` };
        }
      } else {
        rule = this.rules.find((r) => r.id === id);
        space.activeMutant = activeMutant.id;
      }
      tests = await this.prove(rule, testFilter && new Set(testFilter), !disableBail);
    } finally {
      space.activeMutant = undefined;
    }
    const timeout = determineHitLimitReached(space.hitCount, hitLimit);
    space.hitCount = space.hitLimit = undefined;
    // a mutant without its copy (`slice`) may have changed a contract in place
    if (activeMutant.mutatorName === "MethodExpression") {
      const again = await this.prove(this.rules.find((r) => r.id === id), undefined, false);
      if (again.some((t) => t.status === TestStatus.Failed)) this.loaded = { rule: "", cases: [] };
    }
    return timeout ?? toMutantRunResult({ status: DryRunStatus.Complete, tests });
  }
}

/** Words for people: the whole `docs`, the texts of messages, of related places and of fixes. */
const WORDS = new Set(["text", "help", "message", "description"]);
const named = (node, name) => node?.type === "ObjectProperty" && !node.computed && node.key.name === name;

function keyOf(path) {
  const { parent } = path;
  if (parent?.type !== "ObjectProperty" || parent.value !== path.node) return undefined;
  return parent.key.name ?? parent.key.value;
}

const words = {
  shouldIgnore(path) {
    if (named(path.node, "docs")) return "documentation";
    if (path.node.type !== "StringLiteral" && path.node.type !== "TemplateLiteral") return undefined;
    const key = keyOf(path);
    if (key === undefined) return undefined;
    const holder = path.parentPath.parentPath?.parent;
    return WORDS.has(key) || named(holder, "messages") ? "text of a message" : undefined;
  },
};

function makeRunner() {
  return new FixtureRunner();
}
makeRunner.inject = tokens();

export const strykerPlugins = [
  declareFactoryPlugin(PluginKind.TestRunner, "fixtures", makeRunner),
  declareValuePlugin(PluginKind.Ignore, "words", words),
];
