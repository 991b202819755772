/** Counters that end with a window: where a missing expiry is certainly a fault, whatever the program was meant for. */
import type { MissingTtl, ScriptEffects } from "./effects.js";
import { inputOf } from "./query.js";
import { base, type Term } from "./term.js";

const COUNTS = /^(?:incr|incrby|incrbyfloat|hincrby|hincrbyfloat)$/;

/**
 * Whether a key that stays without a time to live counts against a limit: the answer of its increment is compared with an
 * argument or a constant, or the script gives it an expiry on another path.
 */
export function isWindow(missing: MissingTtl, effects: ScriptEffects): boolean {
  const { call } = missing;
  if (!COUNTS.test(call.command ?? "")) return false;
  // a field that is counted up in some stored record is no window
  if (call.command!.startsWith("h") && !missing.origins.every((o) => o.kind === "keys")) return false;
  const key = base(call.argv[1] ?? missing.term);
  if (effects.ttls.some((t) => base(t.term) === key)) return true;
  return effects.comparisons.some((c) => {
    if (c.right === undefined || c.op === "equal" || c.op === "different") return false;
    return (counts(c.left, call) && isLimit(c.right)) || (counts(c.right, call) && isLimit(c.left));
  });
}

function counts(term: Term, call: MissingTtl["call"]): boolean {
  const t = base(term);
  if (t.kind === "reply") return t.call === call;
  return t.kind === "compute" && t.args.some((a) => counts(a, call));
}

function isLimit(term: Term): boolean {
  const t = base(term);
  if (t.kind === "literal") return typeof t.value === "number" && t.value > 1;
  if (t.kind === "compute") return t.args.length > 0 && t.args.every(isLimit);
  return inputOf(t)?.table === "argv";
}
