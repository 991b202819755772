/** What rules ask of a program beyond its effects: its manifest's names beside what the script does. */
import type { Span } from "../../text/source.js";
import { head } from "./knowledge.js";
import type { LuaScript } from "./programs.js";

const PROBABILISTIC =
  /^(?:pf(?:add|count|merge)|setbit|getbit|bitcount|bitop|bitpos|bitfield(?:_ro)?|geo(?:add|dist|hash|pos|radius\w*|search\w*))$/;

/** Bitmap, HyperLogLog and geo commands that a script calls. */
export function probabilisticCommands(
  script: LuaScript | undefined,
): readonly { readonly name: string; readonly at: Span }[] {
  const out: { name: string; at: Span }[] = [];
  for (const [name, call] of script?.effects?.commands ?? []) {
    if (PROBABILISTIC.test(head(name))) out.push({ name, at: call.commandAt });
  }
  return out;
}
