/** What descriptors in code and manifests say differently, and what one of them lacks. */
import { bytesOf } from "../../../text/bytes.js";
import type { Span } from "../../../text/source.js";
import { push } from "../../multimap.js";
import type { ManifestProgram } from "../manifest.js";
import type { ContractPrograms, Program, ProgramSet } from "../programs.js";
import { sha1 } from "../sha1.js";
import type { Descriptor, Reading, Unresolved, WordField } from "./descriptor.js";
import { commandOf, normal, samePath, versionOf } from "./spelling.js";

export interface Drift {
  readonly program: string;
  /** For messages: `sha1`, `name of KEYS[2]`. */
  readonly field: string;
  /** What code says, and what the manifest says. */
  readonly code: string;
  readonly manifest: string;
  readonly at: Span;
  /** The constant that `at` takes its value from, where it stands elsewhere. */
  readonly origin: Span | undefined;
  readonly manifestAt: Span;
}

export interface DriftReport {
  readonly drifts: readonly Drift[];
  /** A field that the other descriptors of the file have. */
  readonly lacking: readonly {
    readonly program: string;
    readonly field: string;
    readonly at: Span;
    readonly manifestAt: Span;
    readonly sibling: Span;
  }[];
  /** Programs without a descriptor where the files should have one. */
  readonly undescribed: readonly { readonly program: Program; readonly language: string; readonly file: Span }[];
  /** Descriptors of programs that no manifest has. */
  readonly uncatalogued: readonly { readonly descriptor: Descriptor; readonly set: ProgramSet }[];
  readonly unresolved: readonly Unresolved[];
  /** Digests in code that are the manifest's, and not the script's any more. */
  readonly stale: readonly {
    readonly program: Program;
    readonly algorithm: "sha1" | "sha256";
    readonly at: Span;
    readonly manifestAt: Span | undefined;
  }[];
}

const LANGUAGE = { java: "Java", typescript: "TypeScript" } as const;

/** Compares the sets of one contract that declare descriptors. */
export function driftOf(programs: ContractPrograms): DriftReport {
  let known = reports.get(programs);
  if (known === undefined) reports.set(programs, (known = compareAll(programs)));
  return known;
}

const reports = new WeakMap<ContractPrograms, DriftReport>();

function compareAll(programs: ContractPrograms): DriftReport {
  const stale: DriftReport["stale"][number][] = [];
  const drifts: Drift[] = [];
  const lacking: DriftReport["lacking"][number][] = [];
  const undescribed: DriftReport["undescribed"][number][] = [];
  const uncatalogued: DriftReport["uncatalogued"][number][] = [];
  const unresolved: Unresolved[] = [];
  const seen = new Set<Descriptor | Unresolved>();
  const sets = programs.sets.filter((s) => s.source.descriptors.length > 0 && s.manifest !== undefined);
  for (const set of sets) {
    const reading = programs.code(set.source);
    if (reading === undefined) continue;
    const files = new Set(set.source.descriptors.map((d) => d.input.file));
    // a file may describe the programs of several sets
    const registry = sets.filter((s) => s.source.descriptors.some((d) => files.has(d.input.file)));
    const all = registry.flatMap((s) => s.programs);
    const byId = new Map<string | undefined, Program[]>();
    for (const p of all) {
      const id = p.entry?.id?.value;
      const same = byId.get(id);
      if (same === undefined) byId.set(id, [p]);
      else same.push(p);
    }
    const matched: { readonly descriptor: Descriptor; readonly program: Program }[] = [];
    const own = new Set(set.programs);
    // what could not be read may be what seems to be missing
    let open = reading.partial;
    for (const descriptor of reading.descriptors) {
      const program = programOf(descriptor, all, byId);
      if (program === undefined) {
        const vague = undecided(descriptor);
        if (vague !== undefined) {
          open = true;
          if (!seen.has(descriptor)) unresolved.push(vague);
        } else if (descriptor.shape === "entry" && !seen.has(descriptor) && said(descriptor)) {
          uncatalogued.push({ descriptor, set });
        }
      } else if (own.has(program)) matched.push({ descriptor, program });
      seen.add(descriptor);
    }
    for (const u of reading.unresolved) {
      open = true;
      if (!seen.has(u)) unresolved.push(u);
      seen.add(u);
    }
    const entries = matched.filter((m) => m.descriptor.shape !== "constant");
    const holders = heldById(entries);
    for (const { descriptor, program } of matched) {
      for (const algorithm of ["sha1", "sha256"] as const) {
        const said = descriptor[algorithm];
        const stated = program.entry?.[algorithm];
        const now = program.script?.input.fault === undefined ? program.script?.digests[algorithm] : undefined;
        if (said.state !== "known" || now === undefined || said.value === now) continue;
        if (said.value === lower(stated?.value))
          stale.push({ program, algorithm, at: said.at, manifestAt: stated?.at });
      }
    }
    // code that never says integer has only one kind of number
    const oneNumber = !entries.some(
      ({ descriptor: { argv } }) =>
        argv.state === "known" && argv.value.some((a) => a.type.state === "known" && a.type.value === "integer"),
    );
    for (const { descriptor, program } of matched) {
      drifts.push(...compareOnce(descriptor, program, { oneNumber, held: holders.has(descriptor) }));
    }
    lacking.push(...lackingFields(entries));
    if (open) continue;
    undescribed.push(...withoutDescriptor(set, entries));
  }
  return { stale, drifts, lacking, undescribed, uncatalogued, unresolved };
}

/** Why nobody can say which program a descriptor is of; undefined: it is said. */
function undecided(d: Descriptor): Unresolved | undefined {
  if (d.shape === "constant") return undefined;
  const open = [d.id, d.file, d.text, d.sha1].find((r) => r.state === "unknown");
  if (open?.state !== "unknown" || (d.id.state === "known" && d.file.state !== "unknown")) return undefined;
  return { at: d.at, reason: open.reason };
}

/** Whether a descriptor says of which program it is in a way that a manifest could repeat. */
function said(d: Descriptor): boolean {
  return d.id.state === "known" || d.file.state === "known" || d.holder?.strong === true;
}

function programOf(
  d: Descriptor,
  programs: readonly Program[],
  byId: ReadonlyMap<string | undefined, readonly Program[]>,
): Program | undefined {
  const { id, version } = d;
  if (id.state === "known") {
    const same = byId.get(id.value) ?? [];
    const exact = same.find((p) => version.state === "known" && p.entry?.version?.value === version.value);
    if (same.length > 0) return exact ?? same[0];
  }
  const digest =
    d.sha1.state === "known" ? d.sha1.value : d.text.state === "known" ? sha1(bytesOf(d.text.value)) : undefined;
  const byDigest = programs.find(
    (p) =>
      (digest !== undefined && (lower(p.entry?.sha1?.value) === digest || p.script?.digests.sha1 === digest)) ||
      (d.sha256.state === "known" && lower(p.entry?.sha256?.value) === d.sha256.value),
  );
  if (byDigest !== undefined) return byDigest;
  if (d.file.state === "known") {
    const { value } = d.file;
    const byFile = programs.filter((p) => p.file !== undefined && samePath(p.file.value, value));
    if (byFile.length === 1) return byFile[0];
  }
  const wanted = [id.state === "known" ? id.value : undefined, d.holder?.name]
    .filter((n) => n !== undefined)
    .map(normal);
  return programs.find((p) => namesOf(p).some((n) => wanted.includes(n)));
}

function lower(word: string | undefined): string | undefined {
  return word?.toLowerCase();
}

/** The id and the file's name of a program in normal form. */
function namesOf(p: Program): readonly string[] {
  const { entry } = p;
  if (entry === undefined) return namesIn(p);
  let known = names.get(entry);
  if (known === undefined) names.set(entry, (known = namesIn(p)));
  return known;
}

const names = new WeakMap<ManifestProgram, readonly string[]>();

function namesIn(p: Program): string[] {
  const file = p.file?.value.replace(/^.*\//, "").replace(/(?:-v\d+)?(?:-\d+)?\.lua$/i, "");
  return [p.entry?.id?.value, file].filter((n) => n !== undefined).map(normal);
}

/** Descriptors without an id whose holders go by the ids: where most do, the name that does not is a drift. */
function heldById(
  entries: readonly { readonly descriptor: Descriptor; readonly program: Program }[],
): ReadonlySet<Descriptor> {
  const held = entries.filter((e) => e.descriptor.id.state === "absent" && e.descriptor.holder?.strong === true);
  const alike = held.filter((e) => namesOf(e.program).includes(normal(e.descriptor.holder!.name)));
  return alike.length * 2 >= held.length && alike.length > 0 ? new Set(held.map((e) => e.descriptor)) : new Set();
}

/** What the other descriptors of the set say about how to read one. */
interface Manner {
  readonly oneNumber: boolean;
  readonly held: boolean;
}

// An entry and a descriptor of it differ in the same way in every contract that holds both.
const compared = new WeakMap<ManifestProgram, Map<Descriptor, { readonly manner: Manner; readonly drifts: Drift[] }>>();

function compareOnce(d: Descriptor, program: Program, manner: Manner): readonly Drift[] {
  const { entry } = program;
  if (entry === undefined) return [];
  let own = compared.get(entry);
  if (own === undefined) compared.set(entry, (own = new Map()));
  const known = own.get(d);
  if (known?.manner.oneNumber === manner.oneNumber && known.manner.held === manner.held) return known.drifts;
  const drifts = compare(d, program, entry, manner);
  own.set(d, { manner, drifts });
  return drifts;
}

function compare(d: Descriptor, program: Program, entry: ManifestProgram, manner: Manner): Drift[] {
  const out: Drift[] = [];
  const whole = entry.at;
  const add = (
    field: string,
    code: string,
    manifest: string,
    at: Span,
    origin: Span,
    manifestAt: Span | undefined,
  ): void => {
    const elsewhere = origin.source !== at.source || origin.start !== at.start ? origin : undefined;
    out.push({ program: program.name, field, code, manifest, at, origin: elsewhere, manifestAt: manifestAt ?? whole });
  };
  const words = (
    field: string,
    path: string,
    reading: Reading<string>,
    stated: string | undefined,
    same: (a: string, b: string) => boolean = (a, b) => a === b,
  ): void => {
    if (reading.state !== "known" || stated === undefined || same(reading.value, stated)) return;
    add(field, quote(reading.value), quote(stated), reading.at, reading.origin, entry.place(path));
  };

  words("id", "id", d.id, entry.id?.value);
  const { holder } = d;
  if (
    holder !== undefined &&
    manner.held &&
    !namesOf(program).includes(normal(holder.name)) &&
    entry.id !== undefined
  ) {
    add("name", quote(holder.name), quote(entry.id.value), holder.at, holder.at, entry.id.at);
  }
  words("version", "version", d.version, entry.version?.value);
  words("file", "file", d.file, entry.file?.value, samePath);
  words("sha1", "sha1", d.sha1, lower(entry.sha1?.value));
  words("sha256", "sha256", d.sha256, lower(entry.sha256?.value));
  if (d.text.state === "known") {
    const own = sha1(bytesOf(d.text.value));
    const stated = lower(entry.sha1?.value);
    if (stated !== undefined && own !== stated) {
      add("SHA-1 of the text", own, stated, d.text.at, d.text.origin, entry.place("sha1"));
    }
  }
  words(
    "minimumRedisVersion",
    "minimumRedisVersion",
    d.minimumRedisVersion,
    entry.minimumRedisVersion?.value,
    (a, b) => a === b || (versionOf(a) !== undefined && versionOf(a) === versionOf(b)),
  );
  const other: Readonly<Record<WordField, string | undefined>> = {
    retry: entry.retry?.value,
    slotRule: entry.slotRule?.value,
    certainty: entry.certainty?.value,
    guarantee: entry.guarantee?.value,
    class: entry.class?.value,
  };
  for (const field of Object.keys(other) as WordField[]) {
    words(field, field, d.words[field], other[field], (a, b) => normal(a) === normal(b));
  }
  compareKeys(d, entry, add);
  compareArguments(d, entry, manner.oneNumber, add);
  compareResult(d, entry, add);
  compareCommands(d, entry, add);
  return out;
}

type Add = (
  field: string,
  code: string,
  manifest: string,
  at: Span,
  origin: Span,
  manifestAt: Span | undefined,
) => void;

function quote(word: string): string {
  return `"${word}"`;
}

/** Lists of named parts: their number, their order, then part by part. */
function compareNames(
  what: string,
  code: readonly { readonly name: Reading<string>; readonly at: Span }[],
  stated: readonly { readonly name: { readonly value: string; readonly at: Span }; readonly at: Span }[],
  at: Span,
  manifestAt: Span | undefined,
  add: Add,
): boolean {
  const names = code.map((c) => (c.name.state === "known" ? c.name.value : undefined));
  const wanted = stated.map((s) => s.name.value);
  const show = (list: readonly (string | undefined)[]): string =>
    list.length === 0 ? "none" : list.map((n) => n ?? "?").join(", ");
  if (code.length !== stated.length) {
    add(
      `number of ${what}`,
      `${code.length} (${show(names)})`,
      `${wanted.length} (${show(wanted)})`,
      at,
      at,
      manifestAt,
    );
    return false;
  }
  if (names.includes(undefined)) return true;
  const [a, b] = [names.map((n) => normal(n!)), wanted.map(normal)];
  const moved = a.findIndex((n, i) => n !== b[i]);
  if (moved < 0 || [...a].sort().join("\n") !== [...b].sort().join("\n")) return true;
  add(`order of ${what}`, show(names), show(wanted), code[moved]!.at, code[moved]!.at, stated[moved]!.at);
  return false;
}

function compareKeys(d: Descriptor, entry: ManifestProgram, add: Add): void {
  const place = entry.place("keys");
  if (place === undefined) return;
  const { keys, numberOfKeys: n } = d;
  if (n.state === "known" && n.value !== entry.keys.length) {
    add("number of KEYS", String(n.value), String(entry.keys.length), n.at, n.origin, place);
  }
  if (keys.state !== "known") return;
  if (!compareNames("KEYS", keys.value, entry.keys, keys.at, place, add)) return;
  keys.value.forEach((key, i) => {
    const stated = entry.keys[i]!;
    for (const part of ["name", "pattern", "access"] as const) {
      const r: Reading<string> = key[part];
      const wanted: string = stated[part].value;
      if (r.state !== "known" || r.value === wanted || (part === "name" && normal(r.value) === normal(wanted)))
        continue;
      add(`${part} of KEYS[${i + 1}]`, quote(r.value), quote(wanted), r.at, r.origin, stated[part].at);
    }
  });
}

function compareArguments(d: Descriptor, entry: ManifestProgram, oneNumber: boolean, add: Add): void {
  const place = entry.place("argv");
  const { argv } = d;
  if (place === undefined || argv.state !== "known") return;
  if (!compareNames("ARGV", argv.value, entry.argv, argv.at, place, add)) return;
  argv.value.forEach((argument, i) => {
    const stated = entry.argv[i]!;
    for (const part of ["name", "type", "unit"] as const) {
      const r = argument[part];
      const wanted: string = stated[part].value;
      if (r.state !== "known" || r.value === wanted || (part === "name" && normal(r.value) === normal(wanted)))
        continue;
      if (part === "type" && oneNumber && r.value === "number" && wanted === "integer") continue;
      add(`${part} of ARGV[${i + 1}]`, quote(r.value), quote(wanted), r.at, r.origin, stated[part].at);
    }
  });
}

function compareResult(d: Descriptor, entry: ManifestProgram, add: Add): void {
  const stated = entry.result;
  if (d.result.state !== "known" || stated === undefined) return;
  const { types, values, items } = d.result.value;
  if (types.state === "known" && !types.value.includes(stated.type.value)) {
    add(
      "type of the result",
      types.value.map(quote).join(" or "),
      quote(stated.type.value),
      types.at,
      types.origin,
      stated.type.at,
    );
  }
  if (values.state === "known" && stated.values !== undefined) {
    const show = (list: readonly unknown[]): string => list.map((v) => JSON.stringify(v)).join(", ");
    const [a, b] = [values.value, stated.values.map((v) => v.value)];
    if (show([...a].sort()) !== show([...b].sort())) {
      add("values of the result", show(a), show(b), values.at, values.origin, entry.place("result/values"));
    }
  }
  if (items.state === "known" && stated.items !== undefined) {
    const [a, b] = [items.value.join(", "), stated.items.map((v) => v.value).join(", ")];
    if (a !== b) add("items of the result", a, b, items.at, items.origin, entry.place("result/items"));
  }
}

function compareCommands(d: Descriptor, entry: ManifestProgram, add: Add): void {
  const place = entry.place("commands");
  const { commands } = d;
  if (place === undefined || commands.state !== "known") return;
  const stated = new Map(entry.commands.map((c) => [commandOf(c.value), c.at]));
  const own = new Map<string, Span>();
  let open = false;
  for (const c of commands.value) {
    // what calls and loads the script is no command of it
    if (c.state === "known" && !/^(?:EVALSHA|EVAL|SCRIPT\|LOAD|SCRIPT)$/.test(c.value)) own.set(c.value, c.at);
    else if (c.state !== "known") open = true;
  }
  for (const [name, at] of own) {
    if (!stated.has(name)) add("commands", `${name} among them`, "none such", at, at, place);
  }
  if (open) return;
  for (const [name, at] of stated) {
    if (!own.has(name)) add("commands", `no ${name}`, `${name} among them`, commands.at, commands.origin, at);
  }
}

const COMMON = [
  "version",
  "file",
  "sha1",
  "sha256",
  "keys",
  "argv",
  "result",
  "minimumRedisVersion",
  "commands",
] as const;

const fieldReadings = new WeakMap<Descriptor, ReadonlyMap<string, Reading<unknown>>>();

function fieldsOf(d: Descriptor): ReadonlyMap<string, Reading<unknown>> {
  let known = fieldReadings.get(d);
  if (known === undefined) {
    known = new Map<string, Reading<unknown>>([...COMMON.map((f) => [f, d[f]] as const), ...Object.entries(d.words)]);
    fieldReadings.set(d, known);
  }
  return known;
}

/** A field that one descriptor lacks and every other of its file has, at least two. */
function lackingFields(
  entries: readonly { readonly descriptor: Descriptor; readonly program: Program }[],
): DriftReport["lacking"] {
  const out: DriftReport["lacking"][number][] = [];
  const files = new Map<string, { readonly descriptor: Descriptor; readonly program: Program }[]>();
  for (const e of entries) {
    if (e.descriptor.shape !== "entry") continue;
    push(files, e.descriptor.at.source.file, e);
  }
  for (const list of files.values()) {
    const fields = list.map((e) => fieldsOf(e.descriptor));
    for (const field of fields[0]!.keys()) {
      const without = list.filter((_, i) => fields[i]!.get(field)!.state === "absent");
      const [lone] = without;
      if (without.length !== 1 || lone === undefined || list.length < 3) continue;
      const manifestAt = lone.program.entry?.place(field);
      if (manifestAt === undefined || isNone(lone.program.entry!, field)) continue;
      const sibling = list.find((e) => e !== lone)!.descriptor.at;
      out.push({ program: lone.program.name, field, at: lone.descriptor.at, manifestAt, sibling });
    }
  }
  return out;
}

/** A list that the manifest has empty: a builder says nothing of it, and that is the same. */
function isNone(entry: ManifestProgram, field: string): boolean {
  return (field === "keys" || field === "argv" || field === "commands") && entry[field].length === 0;
}

/**
 * Programs that a catalog lacks. The descriptors of one language are one catalog; two that share a program are both whole,
 * two that share none split the set between them.
 */
function withoutDescriptor(
  set: ProgramSet,
  entries: readonly { readonly descriptor: Descriptor; readonly program: Program }[],
): DriftReport["undescribed"] {
  const heads = new Map<"java" | "typescript", Span>();
  for (const { input } of set.source.descriptors) {
    if (input.kind !== "java" && input.kind !== "typescript") continue;
    if (!heads.has(input.kind))
      heads.set(input.kind, input.source.span(0, Math.max(0, input.source.text.search(/\r?\n|$/))));
  }
  const covered = new Map([...heads.keys()].map((l) => [l, new Set<Program>()]));
  for (const { descriptor, program } of entries) covered.get(descriptor.language)?.add(program);
  const out: DriftReport["undescribed"][number][] = [];
  const shared = set.programs.some((p) => [...covered.values()].filter((c) => c.has(p)).length > 1);
  for (const program of set.programs) {
    if (program.entry === undefined) continue;
    const lack = [...covered].filter(([, c]) => !c.has(program));
    const none = lack.length === covered.size;
    for (const [language] of none ? lack.slice(0, 1) : shared ? lack : []) {
      out.push({ program, language: LANGUAGE[language], file: heads.get(language)! });
    }
  }
  return out;
}
