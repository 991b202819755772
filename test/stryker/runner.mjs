/** StrykerJS plugins: the test runner that proves rules by their fixtures, and what is not worth a mutant. */
import { declareFactoryPlugin, declareValuePlugin, PluginKind, tokens } from "@stryker-mutator/api/plugin";
import { DryRunStatus, determineHitLimitReached, MutantRunStatus, TestStatus } from "@stryker-mutator/api/test-runner";
import { compileRule, evaluateBase, loadBase, readBase, readText, ruleFiles, ruleId } from "./bundle.mjs";

const space = (globalThis.__stryker__ ??= {});

class FixtureRunner {
  /** Works in the sandbox, which is the current folder. */
  root = process.cwd();
  /** Cases with their contracts, by id; read when first asked for. */
  loaded = new Map();

  capabilities() {
    return { reloadEnvironment: true };
  }

  async init() {
    const { modules, allCases, concerns, loadCase, judge } = await loadBase(this.root);
    this.all = allCases();
    this.concerns = concerns;
    this.loadCase = loadCase;
    this.judge = judge;
    this.base = readBase(this.root);
    this.make = new Map();
    for (const file of ruleFiles(this.root))
      this.make.set(ruleId(file), await compileRule(file, readText(this.root, file), modules));
    this.rules = [...this.make.values()].map((make) => make());
  }

  async load(c) {
    let loaded = this.loaded.get(c.id);
    if (loaded === undefined) {
      loaded = await this.loadCase(c, [...this.make.keys()], this.base);
      this.loaded.set(c.id, loaded);
    }
    return loaded;
  }

  /** Whether a rule reports what the cases say of it; its own cases first, until one fails. */
  async prove(rule, wanted) {
    const cases = this.all.filter((c) => (wanted?.has(c.id) ?? true) && this.concerns(c, rule));
    const own = cases.filter((c) => c.rule === rule.id);
    let count = 0;
    for (const c of own.concat(cases.filter((c) => c.rule !== rule.id))) {
      count++;
      const failure = await this.judgeCase(rule, c);
      if (failure !== undefined) return { count, id: c.id, failure };
    }
    return { count, id: undefined, failure: undefined };
  }

  async judgeCase(rule, c) {
    const loaded = await this.load(c);
    space.currentTestId = c.id;
    try {
      return await this.judge(rule, loaded, this.rules);
    } catch (error) {
      return `crashed: ${error.message}`;
    } finally {
      space.currentTestId = undefined;
    }
  }

  async dryRun({ files }) {
    const wanted = new Set((files ?? []).map((f) => ruleId(f.slice(this.root.length + 1))));
    const rules = this.rules.filter((r) => wanted.has(r.id));
    const tests = [];
    for (const c of this.all) {
      const start = performance.now();
      let failure;
      for (const rule of rules) if (this.concerns(c, rule)) failure ??= await this.judgeCase(rule, c);
      const result =
        failure === undefined ? { status: TestStatus.Success } : { status: TestStatus.Failed, failureMessage: failure };
      tests.push({ id: c.id, name: c.id, timeSpentMs: performance.now() - start, ...result });
    }
    return { status: DryRunStatus.Complete, tests, mutantCoverage: space.mutantCoverage };
  }

  async mutantRun({ activeMutant, sandboxFileName, mutantActivation, testFilter, hitLimit }) {
    const id = ruleId(sandboxFileName.slice(this.root.length + 1));
    const original = this.rules.find((r) => r.id === id);
    const tests = testFilter && new Set(testFilter);
    space.hitCount = hitLimit === undefined ? undefined : 0;
    space.hitLimit = hitLimit;
    space.activeMutant = activeMutant.id;
    let proof;
    try {
      proof = await this.prove(mutantActivation === "static" ? this.make.get(id)() : original, tests);
    } catch (error) {
      proof = { count: 1, id: this.all[0].id, failure: `does not load: ${error.message}` };
    } finally {
      space.activeMutant = undefined;
    }
    const timeout = determineHitLimitReached(space.hitCount, hitLimit);
    space.hitCount = space.hitLimit = undefined;
    // a mutant without its copy (`slice`) may have changed a contract in place
    if (activeMutant.mutatorName === "MethodExpression") {
      if ((await this.prove(original, tests)).failure !== undefined) this.loaded.clear();
    }
    if (timeout !== undefined) return timeout;
    return proof.failure === undefined
      ? { status: MutantRunStatus.Survived, nrOfTests: proof.count }
      : { status: MutantRunStatus.Killed, killedBy: [proof.id], failureMessage: proof.failure, nrOfTests: proof.count };
  }
}

/** Of the cases that reach a mutant of the model only so many are asked, evenly: each reads its tree anew. */
const MOST_CASES = 60;

/** Mutants of the model: the whole bundle is evaluated anew for each, and the cases are loaded and linted from their text. */
class ModelRunner extends FixtureRunner {
  fresh() {
    const { modules, judgeWhole } = evaluateBase(this.root);
    return { rules: [...this.make.values()].map((make) => make(modules)), judgeWhole };
  }

  async ask(c, { rules, judgeWhole }) {
    space.currentTestId = c.id;
    try {
      return await judgeWhole(c, rules, this.base);
    } catch (error) {
      return `crashed: ${error.message}`;
    } finally {
      space.currentTestId = undefined;
    }
  }

  async dryRun() {
    const code = this.fresh();
    const tests = [];
    for (const c of this.all) {
      const start = performance.now();
      const failure = await this.ask(c, code);
      const result =
        failure === undefined ? { status: TestStatus.Success } : { status: TestStatus.Failed, failureMessage: failure };
      tests.push({ id: c.id, name: c.id, timeSpentMs: performance.now() - start, ...result });
    }
    return { status: DryRunStatus.Complete, tests, mutantCoverage: space.mutantCoverage };
  }

  async mutantRun({ activeMutant, mutantActivation, testFilter, hitLimit }) {
    const tests = testFilter && new Set(testFilter);
    const reaching = this.all.filter((c) => tests?.has(c.id) ?? true);
    const step = Math.max(1, reaching.length / MOST_CASES);
    space.hitCount = hitLimit === undefined ? undefined : 0;
    space.hitLimit = hitLimit;
    let count = 0;
    let killer;
    let failure;
    try {
      if (mutantActivation === "static") space.activeMutant = activeMutant.id;
      const code = this.fresh();
      space.activeMutant = activeMutant.id;
      for (let i = 0; i < reaching.length && failure === undefined; i += step) {
        killer = reaching[Math.floor(i)].id;
        failure = await this.ask(reaching[Math.floor(i)], code);
        count++;
      }
    } catch (error) {
      killer = this.all[0].id;
      failure = `does not load: ${error.message}`;
    } finally {
      space.activeMutant = undefined;
    }
    const timeout = determineHitLimitReached(space.hitCount, hitLimit);
    space.hitCount = space.hitLimit = undefined;
    if (timeout !== undefined) return timeout;
    return failure === undefined
      ? { status: MutantRunStatus.Survived, nrOfTests: count }
      : { status: MutantRunStatus.Killed, killedBy: [killer], failureMessage: failure, nrOfTests: count };
  }
}

/** Words for people: the whole `docs`, the texts of messages, of related places and of fixes. */
const WORDS = new Set(["text", "help", "message", "description"]);
/** Their values are of a union of words. */
const CLOSED = new Set(["severity", "inferred"]);
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
    if (WORDS.has(key) || named(holder, "messages")) return "text of a message";
    return CLOSED.has(key) && path.node.type === "StringLiteral"
      ? "a word of a closed type: no other compiles"
      : undefined;
  },
};

function makeRunner() {
  return new FixtureRunner();
}
makeRunner.inject = tokens();

function makeModelRunner() {
  return new ModelRunner();
}
makeModelRunner.inject = tokens();

export const strykerPlugins = [
  declareFactoryPlugin(PluginKind.TestRunner, "model", makeModelRunner),
  declareFactoryPlugin(PluginKind.TestRunner, "fixtures", makeRunner),
  declareValuePlugin(PluginKind.Ignore, "words", words),
];
