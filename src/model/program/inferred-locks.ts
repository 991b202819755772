/** Locks of scripts that no manifest describes: files side by side, one that takes a lock and one that ends or extends it. */
import type { Call } from "./call.js";
import { ENDS, EXTENDS } from "./locks.js";
import { guardsKey, ownershipOf } from "./ownership.js";
import type { LuaScript, ProgramSet } from "./programs.js";
import { acquisitionsOf, inputsOf } from "./query.js";
import { base } from "./term.js";

/** A deletion or extension that asks nothing about the lock's owner. */
export interface BlindChange {
  readonly call: Call;
  readonly script: LuaScript;
  readonly index: number;
  readonly acquisition: { readonly call: Call; readonly script: LuaScript };
}

/** Effects alone do not tell a lock from a cached value that is set once: the files must also be called like one. */
const LOCKS = /lock|lease|mutex|semaphore|acquire|release|renew|leader|elect|extend|heartbeat|keep-?alive/i;

export function blindChanges(set: ProgramSet): readonly BlindChange[] {
  const scripts = set.scripts.filter((s) => s.programs.every((p) => p.entry?.class === undefined));
  const out: BlindChange[] = [];
  for (const taker of scripts) {
    const effects = taker.effects;
    if (effects === undefined || !effects.commandsComplete) continue;
    for (const { call } of acquisitionsOf(effects)) {
      if (!inputsOf(call.argv[2]!).some((i) => i.table === "argv")) continue;
      const [use] = effects.keysOf(call) ?? [];
      const index = use?.origin.kind === "keys" ? use.origin.keys[0] : undefined;
      if (index === undefined) continue;
      for (const script of scripts) {
        if (script === taker || folder(script) !== folder(taker) || !(named(taker) || named(script))) continue;
        for (const change of changesOf(script, index)) {
          out.push({ call: change, script, index, acquisition: { call, script: taker } });
        }
      }
    }
  }
  return out.filter((b, i) => out.findIndex((o) => o.call === b.call) === i);
}

/** Deletions and extensions of `KEYS[index]` in a script that touches nothing else and compares nothing. */
function changesOf(script: LuaScript, index: number): readonly Call[] {
  const effects = script.effects;
  if (effects === undefined || !effects.commandsComplete || acquisitionsOf(effects).length > 0) return [];
  const { keys } = effects;
  if (!keys.every((k) => k.origin.kind === "keys" && k.origin.keys[0] === index)) return [];
  return effects.calls.filter((call) => {
    const { command = "" } = call;
    if (!ENDS.has(command) && !EXTENDS.has(command)) return false;
    const key = base(call.argv[1]!);
    return !ownershipOf(call, undefined, effects.terms).tested && !guardsKey(call, key);
  });
}

function folder(script: LuaScript): string {
  return script.file.slice(0, script.file.length - script.name.length);
}

function named(script: LuaScript): boolean {
  const parent = folder(script).split("/").at(-2) ?? "";
  return LOCKS.test(script.name) || LOCKS.test(parent);
}
