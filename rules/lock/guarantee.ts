import { defineRule } from "../../src/engine/rule.js";
import { comparesInput, keyTitle, locksOf } from "../../src/model/program/locks.js";
import type { ManifestProgram } from "../../src/model/program/manifest.js";
import { ownershipOf } from "../../src/model/program/ownership.js";
import type { ProgramSet } from "../../src/model/program/programs.js";
import { fencedCards } from "../../src/model/program/readiness.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "A lock is called fenced only if it fences, and no key serves two kinds of lock.",
    why: "An expiring lease cannot keep a stale holder out: whoever reads `fenced` relies on a token that the program does not give or does not compare.",
    fix: 'Call it "efficiency", or count a token at each acquisition and compare it where the lock is used, renewed and released.',
    bad: '{ "id": "lease-acquire", "class": "lease", "guarantee": "fenced" }\n',
    good: '{ "id": "lease-acquire", "class": "lease", "guarantee": "efficiency" }\n',
    source: {
      title: "Martin Kleppmann: How to do distributed locking",
      url: "https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html",
    },
    rows: ["C-L06", "C-L09", "C-L10"],
  },
  messages: {
    tokenless: {
      text: "{program} is called fenced and takes {key} without counting a token",
      help: 'Count up in a key that never expires and answer the token, or call it "efficiency".',
    },
    careless: {
      text: "{program} is called fenced and compares no token before {command} on {key}",
      help: 'Compare the token that the caller got, or call it "efficiency".',
    },
    unfenced: {
      text: "{program} of class fence promises {guarantee}: a fence that does not fence",
      help: 'Call it "fenced", or give it the class "lease".',
    },
    claimed: {
      text: "{program} of class {class} is called fenced; only a lock with a token is",
      help: 'Call it "none".',
    },
    card: {
      text: "{card} is {state}, and none of its programs {what}",
      help: "A fenced lock needs a program that counts a token at each acquisition and one that refuses a token below the highest seen.",
    },
    database: {
      text: "{program} gives {key} as a lease: the instances of a {what} are kept apart by a lock of the database",
      help: "Name the advisory lock of the database for it: a lease of Redis may be held twice after a failover.",
    },
    shared: {
      text: "{key} of {program} ({class}) is a key of {other} ({otherClass}) too: two kinds of lock in one key",
      help: "Give each kind of lock keys of its own.",
    },
  },
  on: {
    Contract(contract, { report }) {
      for (const { id, state, at, lacks } of fencedCards(contract, locksOf(contract))) {
        for (const what of lacks) report("card", { card: id, state, what: DOES[what] }, at);
      }
    },
    Program(program, { contract, report }) {
      const { entry } = program;
      const takes = entry !== undefined && (locksOf(contract).of(program)?.acquires.length ?? 0) > 0;
      const many = takes && entry.guarantee?.value !== "fenced" ? instancesOf(entry) : undefined;
      if (many !== undefined) report("database", Object.assign({ program: program.name }, many), many.at);
      if (entry?.guarantee === undefined) return;
      const { guarantee } = entry;
      const kind = entry.class?.value;
      const locks = locksOf(contract);
      const lock = locks.of(program);
      const fenced = guarantee.value === "fenced";
      if (kind === "fence" && !fenced && (lock === undefined || lock.effects.writes.length > 0)) {
        report("unfenced", { program: program.name, guarantee: guarantee.value }, guarantee.at);
        return;
      }
      if (!fenced) return;
      if (kind !== undefined && OTHER.has(kind)) {
        report("claimed", { program: program.name, class: kind }, guarantee.at);
        return;
      }
      if (lock === undefined) return;
      const related = [{ at: lock.script.head, message: "the script" }];
      const [taken] = lock.acquires;
      if (taken !== undefined) {
        if (lock.counts.length > 0 || lock.effects.unknowns.length > 0) return;
        const data = { program: program.name, key: keyTitle(program, taken.use.origin) };
        report("tokenless", data, guarantee.at, { related: [{ at: taken.call.at, message: "it is taken here" }] });
        return;
      }
      const change = lock.changes.find((c) => locks.leases.has(c.key)) ?? lock.changes[0];
      if (change === undefined || change.call.command === "persist") return;
      const own = ownershipOf(change.call, undefined, lock.effects.terms);
      const compared = lock.tokens.some((t) => own.argv.has(t) || comparesInput(lock.effects, t));
      if (own.unclear || compared) return;
      const data = {
        program: program.name,
        command: (change.call.command ?? "").toUpperCase(),
        key: keyTitle(program, change.use.origin),
      };
      report("careless", data, guarantee.at, { related });
    },
    ProgramSet(set, { contract, report }) {
      // Every set is compared with itself and with those before it.
      const before: ProgramSet[] = [];
      for (const one of contract.programs.sets) {
        before.push(one);
        if (one === set) break;
      }
      const owners = new Map<string, { readonly program: string; readonly kind: string; readonly at: Spot }>();
      for (const one of before) {
        for (const { entry, name } of one.programs) {
          const kind = entry?.class?.value;
          if (entry === undefined || kind === undefined || !KINDS.has(kind)) continue;
          for (const key of entry.keys) {
            const owner = owners.get(key.pattern.value);
            if (owner === undefined) owners.set(key.pattern.value, { program: name, kind, at: key.pattern.at });
            else if (owner.kind !== kind && one === set) {
              const data = { key: key.pattern.value, program: name, class: kind };
              report("shared", { ...data, other: owner.program, otherClass: owner.kind }, key.pattern.at, {
                related: [{ at: owner.at, message: `a key of ${owner.program}` }],
              });
            }
          }
        }
      }
    },
  },
});

const DOES = {
  token: "counts a fencing token",
  watermark: "keeps the highest token that it has seen",
} as const;

/** What several instances run at the same time and only one may do, by the words of the keys. */
const INSTANCES = /(?:^|[^a-z])(outbox|scheduler)(?:s|es)?(?:$|[^a-z])/i;

/** The key of a lock that keeps the instances of a scheduler or an outbox apart. */
function instancesOf({ keys }: ManifestProgram): { key: string; what: string; at: Spot } | undefined {
  for (const { name, pattern } of keys) {
    const what = INSTANCES.exec(pattern.value)?.[1];
    if (what !== undefined) return { key: name.value, what: what.toLowerCase(), at: pattern.at };
  }
  return undefined;
}

type Spot = NonNullable<ProgramSet["programs"][number]["entry"]>["at"];

/** Classes of which each has keys of its own. */
const KINDS: ReadonlySet<string> = new Set(["lease", "lock", "fence", "idempotency", "queue"]);
const OTHER: ReadonlySet<string> = new Set(["cache", "rate", "session", "queue", "probe"]);
