/** The record of a long run: one section per server version, kept from run to run. */
import type { Outcome } from "./lab.js";
import { experiments } from "./lab-experiments.js";

const HEAD = `# Live proof of the golden contract

\`LIVE_ALL=1 npx vitest run test/live/lab.test.ts\` writes this file (\`npm run live:all\`; another server with
\`LIVE_REDIS_SERVER=path/to/redis-server\`). Each row is the golden lab of \`fixtures/redis-lab\` with one defect, played on
real servers: three data servers and three Sentinels start from the golden templates and bootstrap scripts, the primary
is killed with \`kill -9\`, the failover is awaited, the old primary boots again. \`test/live/lab.ts\` says what differs from
the cluster. No directive of the templates is left out on 7.0: every line of them loads there.
7.0.15 is Debian's package; 7.2.4, the version of the golden image, was built from its source tag with TLS.

| column | yes means |
|---|---|
| linked | both replicas' links are up before anything happens |
| converged | every Sentinel sees two replicas, two peers and a healthy primary, also after a down-after period |
| CKQUORUM | what \`SENTINEL CKQUORUM\` says then |
| failover | a replica is promoted and a majority of Sentinels announces it within 12 s |
| follows | the other replica replicates from it |
| rejoins | the old primary comes back as its replica |
| kept | the new roles are in the configuration files and survive a restart |

"As expected": equal to what five servers (6.2 to 8.0, Valkey 9.1) did with the same defect in earlier recordings. Two
rows have none: a \`redis.conf\` mounted as a single read-only file, where \`CONFIG REWRITE\` fails (\`Device or resource
busy\`) and the first restart forgets the failover; and the replica user missing on both replicas, where the recordings
had it missing on one and the result hung on which one was promoted.
`;

const mark = (value: boolean | null): string => (value === null ? "–" : value ? "yes" : "**no**");

function section(version: string, outcomes: ReadonlyMap<string, Outcome>): string {
  let text = `## Redis ${version}\n\nRun on ${new Date().toISOString().slice(0, 10)}, ${outcomes.size} of ${experiments.length} experiments.\n\n`;
  text +=
    "| defect | linked | converged | CKQUORUM | failover | follows | rejoins | kept | refused by ACL | as expected |\n";
  text += `|---|${"---|".repeat(9)}\n`;
  for (const { id, expect } of experiments) {
    const outcome = outcomes.get(id);
    if (!outcome) continue;
    const { replicasLinked, sentinelsConverged, quorumReported, failover, otherReplicaFollows } = outcome;
    const story = [replicasLinked, sentinelsConverged, quorumReported, failover, otherReplicaFollows].map(mark);
    story.push(mark(outcome.oldPrimaryRejoins), mark(outcome.rolesPersisted));
    const equal = Object.entries(expect).every(([field, value]) => outcome[field as keyof Outcome] === value);
    const killed =
      outcome.scriptKilled === null ? "" : outcome.scriptKilled ? "; script killed" : "; script not killed";
    const denied = outcome.denied
      .filter((entry) => !NOISE.has(entry))
      .map((entry) => `\`${entry.replaceAll("|", "\\|")}\``);
    text += `| ${id.replaceAll("|", "\\|")} | ${story.join(" | ")} | ${denied.join(" ")} | ${equal ? "yes" : "**no**"}${killed} |\n`;
  }
  return text;
}

/** A minimal peer user causes these in every deployment; they change nothing. */
const NOISE = new Set(["sentinel:sentinel-peer:command:client|setname", "sentinel:sentinel-peer:command:publish"]);

/** The new text of the record: this version's section replaced, the others kept, in version order. */
export function report(before: string, version: string, outcomes: ReadonlyMap<string, Outcome>): string {
  const sections = new Map<string, string>();
  for (const part of before.split(/^(?=## Redis )/m)) {
    const name = /^## Redis (\S+)/.exec(part)?.[1];
    if (name) sections.set(name, `${part.trimEnd()}\n`);
  }
  sections.set(version, section(version, outcomes));
  const ordered = [...sections].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
  return `${HEAD}\n${ordered.map(([, text]) => text).join("\n")}`;
}
