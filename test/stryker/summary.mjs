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

/** `all`: results by file; `only`: a table of these files alone. */
export function summary(all, only) {
  const files = only ?? Object.keys(all);
  const groups = new Map();
  for (const file of files) {
    const name = only === undefined ? file.split("/")[1] : file.replace(/^rules\/|\.ts$/g, "");
    groups.set(name, [...(groups.get(name) ?? []), ...all[file].mutants]);
  }
  const table = [
    `| ${only === undefined ? "pack" : "rule"} | score | killed | survived | no coverage | ignored | invalid |`,
    "|---|--:|--:|--:|--:|--:|--:|",
    ...[...groups].map(([name, mutants]) => row(name, count(mutants))),
    row("**all**", count([...groups.values()].flat())),
  ].join("\n");
  if (only !== undefined) return table;
  const dates = files.map((f) => all[f].date).sort();
  const when = dates[0] === dates.at(-1) ? dates[0] : `${dates[0]} to ${dates.at(-1)}`;
  return `# Code mutants of the rules

Written by \`npm run mutate\`. [StrykerJS](https://stryker-mutator.io) changes the code of each rule in \`rules/\`, one place at a time, and the
fixtures must notice. The score is the share of the changes that they notice.

${table}

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

## Running it

\`\`\`sh
npm run mutate                              # all rules: some ten minutes
npm run mutate -- --shard 1/4               # a quarter of the files; the results of all shards are kept
npm run mutate -- k8s acl/wiring            # a pack, a rule
\`\`\`

The first run installs StrykerJS below \`test/stryker\`; nothing else needs it, and neither \`npm test\` nor CI runs it. Every run lists what survived,
keeps its files' results in \`dist/mutation/rules.json\`, and writes this page once all rules have results there. The runner
(\`test/stryker/runner.mjs\`) bundles the sources once, reads the contracts of all cases once, and per mutant runs the one rule that it is in.
`;
}
