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
  return `${table}\n\n${dates[0]} ${dates.at(-1)}\n`;
}
