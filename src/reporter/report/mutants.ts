/** Rules × mutants: what `prove --format json` says, with or without `--sweep`. */

import { push } from "../../model/multimap.js";
import { oneLine, plural } from "../shared.js";
import { details, esc, leftOut, table, th } from "./html.js";

/** A mutant of either result. */
interface Mutant {
  /** What it belongs to: the rule whose proof it is, or the mutator that made it. */
  readonly owner: string;
  readonly name: string;
  readonly status: string;
  readonly killedBy: readonly string[];
  readonly place: string;
}

export interface Mutants {
  readonly kind: "named" | "sweep";
  readonly mutants: readonly Mutant[];
}

/** Not a result of `prove --format json`. */
export class MutantsError extends Error {}

const MOST_NAMED = 3000;
const MOST_SURVIVORS = 500;
/** Named mutants that are as they should be, and boundary cases that stayed silent. */
const GOOD: ReadonlySet<string> = new Set(["Killed", "Silent"]);

type Json = Readonly<Record<string, unknown>>;

function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function lineOf(file: string, position: Json): string {
  const { line, column } = position;
  return typeof line === "number" && typeof column === "number" ? `${file}:${line}:${column}` : file;
}

/** Reads the JSON of `prove`; throws a MutantsError. */
export function readMutants(json: string): Mutants {
  let value: Json;
  try {
    value = object(JSON.parse(json));
  } catch (error) {
    throw new MutantsError(`it is no JSON: ${(error as Error).message}`);
  }
  if (Array.isArray(value["mutants"])) {
    const mutants = items(value["mutants"]).map((entry): Mutant => {
      const m = object(entry);
      const at = object(m["at"]);
      return {
        owner: text(m["rule"]),
        name: text(m["name"]),
        status: text(m["status"]),
        killedBy: items(m["killedBy"]).map(text),
        place: lineOf(text(at["file"]), at),
      };
    });
    return { kind: "named", mutants };
  }
  if (typeof value["schemaVersion"] === "string" && typeof value["files"] === "object") {
    const mutants = Object.entries(object(value["files"])).flatMap(([file, entry]) =>
      items(object(entry)["mutants"]).map((item): Mutant => {
        const m = object(item);
        return {
          owner: text(m["mutatorName"]),
          name: text(m["description"]).split("\n")[0]!,
          status: text(m["status"]),
          killedBy: items(m["killedBy"]).map(text),
          place: lineOf(file, object(object(m["location"])["start"])),
        };
      }),
    );
    return { kind: "sweep", mutants };
  }
  throw new MutantsError("it is neither the result of prove --format json nor that of prove --sweep --format json");
}

export function mutantSection({ kind, mutants }: Mutants): string {
  const counts = new Map<string, number>();
  for (const { status } of mutants) counts.set(status, (counts.get(status) ?? 0) + 1);
  const parts = [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([status, n]) => `<b>${n}</b> ${esc(words(status))}`);
  const head = `<p>${plural(mutants.length, kind === "named" ? "case" : "mutant")}: ${parts.join(", ")}.</p>`;
  return head + (kind === "named" ? named(mutants) : swept(mutants));
}

function words(status: string): string {
  return status.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
}

function pack(rule: string): string {
  return rule.slice(0, Math.max(0, rule.indexOf("/"))) || rule;
}

/** A matrix per pack: mutants down, the rules that report them across. */
function named(all: readonly Mutant[]): string {
  const mutants = all.slice(0, MOST_NAMED);
  const packs = new Map<string, Mutant[]>();
  for (const m of mutants) {
    push(packs, pack(m.owner), m);
  }
  const parts = [...packs].map(([name, list]) => {
    const killed = list.filter((m) => m.status !== "Silent");
    const bad = list.filter((m) => !GOOD.has(m.status)).length;
    const columns = [...new Set(killed.flatMap((m) => [m.owner, ...m.killedBy]))].sort((a, b) =>
      pack(a) === name && pack(b) !== name ? -1 : pack(a) !== name && pack(b) === name ? 1 : a < b ? -1 : 1,
    );
    const head = [
      th("Mutant", "col", ' class="stick"'),
      th("Result"),
      ...columns.map((c) => `<th scope="col" class="up"><span>${esc(c)}</span></th>`),
    ];
    const rows = killed.map((m) => {
      const cells = columns.map((c) =>
        !m.killedBy.includes(c)
          ? c === m.owner
            ? '<td class="unsure" title="its own rule does not report it">✗</td>'
            : "<td></td>"
          : c === m.owner
            ? `<td class="all" title="${esc(c)} reports it, as it must">●</td>`
            : `<td class="some" title="${esc(c)} reports it too">○</td>`,
      );
      return `<tr><th scope="row" class="stick" title="${esc(m.place)}">${esc(oneLine(m.name))}</th><td>${status(m.status)}</td>${cells.join("")}</tr>`;
    });
    const silent = list.filter((m) => m.status === "Silent").length;
    const note =
      silent > 0
        ? `<p class="note">And ${plural(silent, "boundary case")} where every rule must stay silent, and does.</p>`
        : "";
    const title = `<b>${esc(name)}</b> ${plural(killed.length, "mutant")}, ${plural(columns.length, "rule")}${bad > 0 ? `, <span class="badge error">${bad} not as they should be</span>` : ""}`;
    return details(title, table(`Mutants of ${name}`, head, rows, "matrix") + note, bad > 0);
  });
  return `<p class="note">● the rule whose proof it is, ○ rules that report the same change too, ✗ its own rule does not.</p>${parts.join("\n")}${leftOut(mutants.length, all.length, "cases")}`;
}

/** Rules down, mutators across: how many mutants of a kind each rule reports; then what nobody reports. */
function swept(mutants: readonly Mutant[]): string {
  const killed = new Map<string, Map<string, number>>();
  const totals = new Map<string, { killed: number; missed: number }>();
  for (const m of mutants) {
    const total = totals.get(m.owner) ?? { killed: 0, missed: 0 };
    totals.set(m.owner, total);
    if (m.status === "Killed") total.killed++;
    else if (m.status === "Survived" || m.status === "NoCoverage") total.missed++;
    for (const rule of m.killedBy) {
      const own = killed.get(rule) ?? new Map<string, number>();
      killed.set(rule, own);
      own.set(m.owner, (own.get(m.owner) ?? 0) + 1);
    }
  }
  const mutators = [...totals.keys()].sort();
  const head = [
    th("Rule", "col", ' class="stick"'),
    ...mutators.map((m) => `<th scope="col" class="up"><span>${esc(m)}</span></th>`),
  ];
  const cells = (count: (mutator: string) => number, style: string): string =>
    mutators.map((m) => (count(m) === 0 ? "<td></td>" : `<td class="${style}">${count(m)}</td>`)).join("");
  const rows = [
    `<tr><th scope="row" class="stick">reported by some rule</th>${cells((m) => totals.get(m)!.killed, "all")}</tr>`,
    `<tr><th scope="row" class="stick">reported by none</th>${cells((m) => totals.get(m)!.missed, "unsure")}</tr>`,
    ...[...killed]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(
        ([rule, own]) =>
          `<tr><th scope="row" class="stick"><code>${esc(rule)}</code></th>${cells((m) => own.get(m) ?? 0, "some")}</tr>`,
      ),
  ];
  const survivors = mutants.filter((m) => m.status === "Survived" || m.status === "NoCoverage");
  const shown = survivors.slice(0, MOST_SURVIVORS);
  const list = table(
    "Mutants that nobody reports",
    ["Field", "Place", "Mutator", "Result"].map((t) => th(t)),
    shown.map(
      (m) =>
        `<tr><th scope="row">${esc(oneLine(m.name))}</th><td><code>${esc(m.place)}</code></td><td>${esc(m.owner)}</td><td>${status(m.status)}</td></tr>`,
    ),
  );
  return (
    table("Mutants that each rule reports, by mutator", head, rows, "matrix") +
    (survivors.length === 0
      ? `<p class="good">Every mutant is reported.</p>`
      : details(`${plural(survivors.length, "mutant")} that nobody reports`, list) +
        leftOut(shown.length, survivors.length, "of them"))
  );
}

function status(name: string): string {
  const style = GOOD.has(name) ? "ok" : name === "Ignored" ? "info" : "error";
  return `<span class="badge ${style}">${esc(words(name))}</span>`;
}
