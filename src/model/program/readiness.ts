/** Readiness cards that promise fenced coordination, and what the programs that they name do for it. */
import type { YamlDocument } from "../../document/yaml.js";
import type { Span } from "../../text/source.js";
import type { Contract } from "../contract.js";
import type { Locks } from "./locks.js";
import type { Program } from "./programs.js";

export interface FencedCard {
  readonly id: string;
  readonly state: string;
  /** The list of programs, else the card's state. */
  readonly at: Span;
  /** What none of its programs does: `token` counts one at each acquisition, `watermark` keeps the highest one seen. */
  readonly lacks: readonly ("token" | "watermark")[];
}

const FENCED = /fenc/i;

/** Cards for fenced coordination that say that it is there and name only programs of the contract. */
export function fencedCards(contract: Contract, locks: Locks): readonly FencedCard[] {
  if (contract.config.registries?.["readiness"] === undefined) return [];
  const out: FencedCard[] = [];
  const byId = new Map<string, Program>();
  for (const p of contract.programs.programs) if (p.entry?.id !== undefined) byId.set(p.entry.id.value, p);
  for (const file of contract.files) {
    if (file.kind !== "yaml" || file.fault !== undefined || !/^cards[ \t]*:/m.test(file.source.text)) continue;
    for (const document of file.yaml.documents) out.push(...cardsOf(document, byId, locks));
  }
  return out;
}

function* cardsOf(document: YamlDocument, byId: ReadonlyMap<string, Program>, locks: Locks): Generator<FencedCard> {
  const { cards } = (document.value ?? {}) as { readonly cards?: unknown };
  for (const [i, card] of (Array.isArray(cards) ? (cards as unknown[]) : []).entries()) {
    const { id, state, programs } = (card ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof id !== "string" || typeof state !== "string" || !FENCED.test(id) || state === "not-implemented")
      continue;
    const named = Array.isArray(programs) ? programs.map((p) => byId.get(String(p))) : [];
    // a program that the catalog lacks, or whose script is not understood, may be the one
    const known = named.filter((p) => p?.script?.effects?.commandsComplete === true) as Program[];
    if (known.length < named.length) continue;
    const own = known.flatMap((p) => locks.of(p) ?? []);
    const lacks: FencedCard["lacks"][number][] = [];
    if (!own.some((l) => l.counts.length > 0)) lacks.push("token");
    if (!own.some((l) => locks.watermarks(l).length > 0)) lacks.push("watermark");
    const at = document.locate(programs === undefined ? ["cards", i, "state"] : ["cards", i, "programs"]);
    if (lacks.length > 0) yield { id, state, at, lacks };
  }
}
