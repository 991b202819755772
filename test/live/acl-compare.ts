/** Compares the evaluator with what a server did with a file. */
import { dryRun, load, serverMessage } from "../../src/model/redis/acl.js";
import type { Outcome } from "./acl-server.js";

/** What the test appends to keep a way in (see `AclServer.load`). */
const OWN = "\nuser zz-admin on nopass ~* &* +@all\n";

/** Differences, none when the evaluator agrees. */
export function compare(
  text: string,
  calls: readonly (readonly string[])[],
  outcome: Outcome,
  server: string,
): string[] {
  const result = load(text + OWN, { server });
  if (!result.ok) {
    if (result.crash === true) return outcome.crash ? [] : [`crash instead of ${outcome.error ?? "loading"}`];
    const own = serverMessage(result.errors, "<aclfile>");
    return own === outcome.error ? [] : [`"${own}" instead of ${outcome.crash ? "a crash" : `"${outcome.error}"`}`];
  }
  if (outcome.dies === true) {
    const known = [...result.users.values()].some((u) => u.crashes);
    return known ? [] : ["loads and describes itself instead of killing the server"];
  }
  if (outcome.users === undefined) return [`loads instead of ${outcome.crash ? "a crash" : outcome.error}`];
  const problems: string[] = [];
  const names = [...result.users.keys()].filter((n) => n !== "zz-admin").sort();
  const theirs = [...outcome.users.keys()].sort();
  if (names.join(" ") !== theirs.join(" ")) return [`users ${names} instead of ${theirs}`];
  for (const [name, recorded] of outcome.users) {
    const user = result.users.get(name)!;
    const own = JSON.stringify(normal({ ...user.describe() }, user.behaviour.orderedRules));
    const wanted = JSON.stringify(normal(recorded, user.behaviour.orderedRules));
    if (own !== wanted) problems.push(`${name}: ${own} instead of ${wanted}`);
  }
  calls.forEach(([name, ...argv], index) => {
    const reply = outcome.runs![index]!;
    const user = result.users.get(name!);
    if (user === undefined) return;
    const run = dryRun(user, argv);
    const own = run.allowed ? "OK" : run.denied === "call" ? `-${run.reason}` : run.reason;
    if (own !== reply) problems.push(`${name} ${JSON.stringify(argv)}: ${own} instead of ${reply}`);
  });
  return problems;
}

/** Flags are a set; before 7.2 the commands come in the order of a hash table. */
function normal(value: Record<string, unknown>, ordered: boolean): unknown {
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, v]) => {
      if (name === "flags") return [name, [...(v as string[])].sort()];
      if (name === "commands" && !ordered) return [name, (v as string).split(" ").sort()];
      if (name === "selectors") return [name, (v as Record<string, unknown>[]).map((x) => normal(x, ordered))];
      return [name, v];
    });
}
