/** The score of the rules' code mutants, as a page. */
const KILLED = new Set(["Killed", "Timeout"]);

function count(mutants) {
  const n = { killed: 0, survived: 0, none: 0, ignored: 0, invalid: 0 };
  for (const { status } of mutants) {
    if (KILLED.has(status)) n.killed++;
    else if (status === "Survived") n.survived++;
    else if (status === "NoCoverage") n.none++;
    else if (status === "Ignored") n.ignored++;
    else n.invalid++;
  }
  return { ...n, valid: n.killed + n.survived + n.none };
}

const percent = (n) => (n.valid === 0 ? "–" : `${((100 * n.killed) / n.valid).toFixed(1)} %`);
const row = (name, n) =>
  `| ${name} | ${percent(n)} | ${n.killed} | ${n.survived} | ${n.none} | ${n.ignored} | ${n.invalid} |`;

function table(kind, groups) {
  return [
    `| ${kind} | score | killed | survived | no coverage | ignored | invalid |`,
    "|---|--:|--:|--:|--:|--:|--:|",
    ...[...groups].map(([name, mutants]) => row(name, count(mutants))),
    row("**all**", count([...groups.values()].flat())),
  ].join("\n");
}

/** Results of files, each file a row. */
export function tableOf(all, files) {
  return table("file", new Map(files.map((file) => [file, all[file].mutants])));
}

function grouped(all, nameOf) {
  const groups = new Map();
  for (const [file, { mutants }] of Object.entries(all)) {
    const name = nameOf(file);
    groups.set(name, [...(groups.get(name) ?? []), ...mutants]);
  }
  return groups;
}

function ofModel(model) {
  const results = Object.values(model);
  if (results.length === 0) return "";
  const { date, share } = results[0];
  const folder = (file) => (file.split("/").length > 3 ? file.split("/").slice(0, 3).join("/") : "src/model");
  return `
## A sample of the model

${table("folder", grouped(model, folder))}

Run: ${date}, one line of ${share} of \`src/model\`, in runs of ten lines, by \`npm run mutate -- --model ${share}\`. For each mutant the bundle is evaluated
anew, and at most sixty of the cases that reach it are read and linted from their text, so the number is a lower bound of what the fixtures alone
notice; the tests of the model itself are not asked.
`;
}

/** The page. `all`: results of the rules by file; `model`: those of the sample. */
export function page(all, model) {
  const files = Object.keys(all);
  const dates = files.map((f) => all[f].date).sort();
  const when = dates[0] === dates.at(-1) ? dates[0] : `${dates[0]} to ${dates.at(-1)}`;
  return `# Code mutants of the rules

Written by \`npm run mutate\`. [StrykerJS](https://stryker-mutator.io) changes the code of each rule in \`rules/\`, one place at a time, and the
fixtures must notice. The score is the share of the changes that they notice.

${table(
  "pack",
  grouped(all, (file) => file.split("/")[1]),
)}

Run: ${when}, ${files.length} rules, all of their mutants.

- **killed**: some case of a fixture fails, because the rule reports another finding, or none, or one more, or it throws.
- **survived**: every case that reaches the place still passes. Some of these changes mean the same as the original (a bound that nothing stands
  on, an empty text where a name is always known); they are left here and not taken out of the count.
- **no coverage**: no case reaches the place.
- **ignored**, and not counted: the whole \`docs\` of a rule, the texts of its messages and their help, of related places and of fixes; and the
  words of \`severity\` and \`inferred\`, which are of a closed type, so that no other text compiles. All other strings are mutated.

A case is asked about the rule whose fixture it is in, and about every other rule, since a case states all findings. A case that is \`alone\` in its
fixture is asked about its own rule only. What counts is what the fixture states: the message, the text at its place, its file, and where the case
says so its severity, a part of its text (\`says\`), its related places (\`related\`) and the line that its fix leaves (\`fix\`). Both unchanged bases are
cases too. Tests outside the fixtures are not asked.
${ofModel(model)}
## Running it

\`\`\`sh
npm run mutate                              # all rules: some ten minutes
npm run mutate -- --shard 1/4               # a quarter of the files; the results of all shards are kept
npm run mutate -- k8s acl/wiring            # a pack, a rule
\`\`\`

The first run installs StrykerJS below \`test/stryker\`; nothing else needs it, and neither \`npm test\` nor CI runs it. Every run lists what survived,
keeps its files' results in \`coverage/mutation/rules.json\`, and writes this page once all rules have results there. The runner
(\`test/stryker/runner.mjs\`) bundles the sources once, reads the contracts of all cases once, and per mutant runs the one rule that it is in.
`;
}
