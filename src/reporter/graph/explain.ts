/** `graph --explain`: why a connection is allowed or not, policy by policy. */

import type { Explanation, RuleMatch, Side } from "../../model/kubernetes/network.js";
import { describePeer, type Policy, type SpecPath } from "../../model/kubernetes/network-policy.js";
import { printable } from "./text.js";

/** Says where a part of a policy stands (`np.yaml:12:5`); undefined where that is not known. */
export type PlaceOf = (policy: Policy, path: SpecPath) => string | undefined;

export function explainText(explanation: Explanation, placeOf: PlaceOf = () => undefined): string {
  const { from, to, asked, allowed, undecided, connections, notes } = explanation;
  const what = asked === undefined ? "" : `, ${asked.protocol} ${asked.port}`;
  const verdict = allowed ? "allowed" : undecided ? "not decided by the files" : "denied";
  const lines = [`${printable(from)} → ${printable(to)}${what}: ${verdict}`];
  if (asked === undefined || !allowed) lines.push(`  allowed in all: ${connections.toString()}`);
  sideLines(explanation.egress, from, lines, placeOf);
  sideLines(explanation.ingress, to, lines, placeOf);
  for (const note of notes) lines.push(`  note: ${printable(note)}`);
  return `${lines.join("\n")}\n`;
}

/** The same as data: `{ "version": 1, "from", "to", "asked", "verdict", "connections", "egress": {…}, "ingress": {…}, "notes" }`. */
export function explainJson(explanation: Explanation, placeOf: PlaceOf = () => undefined): string {
  const { from, to, asked, allowed, undecided, connections, egress, ingress, notes } = explanation;
  const side = ({ allowed: open, isolating, allowing, near, byAddress }: Side): unknown => {
    const ruleOf = (match: RuleMatch): unknown => ({
      policy: match.policy.id,
      rule: match.rule,
      connections: match.connections.connections,
      at: placeOf(match.policy, match.path) ?? null,
    });
    return {
      allowed: open,
      isolating: isolating.map((policy) => ({
        policy: policy.id,
        at: placeOf(policy, ["spec", "podSelector"]) ?? null,
      })),
      allowing: allowing.map(ruleOf),
      near: near.map((miss) => Object.assign({ lacks: miss.lacks }, ruleOf(miss))),
      byAddress: byAddress.map(ruleOf),
    };
  };
  const verdict = allowed ? "allowed" : undecided ? "undecided" : "denied";
  const data = {
    version: 1,
    from,
    to,
    asked: asked ?? null,
    verdict,
    connections: connections.connections,
    egress: side(egress),
    ingress: side(ingress),
    notes,
  };
  return `${JSON.stringify(data, undefined, 2)}\n`;
}

function sideLines(side: Side, whose: string, lines: string[], placeOf: PlaceOf): void {
  const { direction, isolating, allowing, near, byAddress } = side;
  if (isolating.length === 0) {
    const reason = whose.endsWith("[External]") ? "outside the cluster" : `no policy selects it for ${direction}`;
    lines.push(`  ${direction} of ${printable(whose)}: open (${reason})`);
    return;
  }
  lines.push(`  ${direction} of ${printable(whose)}: ${side.allowed ? "allowed" : "denied"}`);
  for (const match of allowing)
    lines.push(`    allowed by ${rule(match)} (${match.connections.toString()})${place(match, placeOf)}`);
  if (allowing.length > 0) return;
  for (const policy of isolating) {
    const at = placeOf(policy, ["spec", "podSelector"]);
    const doubt = policy.undecided ? ", which holds placeholders" : "";
    lines.push(`    isolated by ${printable(policy.id)}${doubt}${at === undefined ? "" : ` at ${at}`}`);
  }
  for (const miss of near) {
    const why =
      miss.lacks === "port"
        ? `matches the peer, but lets through ${miss.connections.toString()} only`
        : `has the port, but is for ${peersOf(miss)}`;
    lines.push(`    ${rule(miss)} ${why}${place(miss, placeOf)}`);
  }
  for (const match of byAddress) {
    lines.push(
      `    ${rule(match)} names addresses: it counts only if they include the pod's own${place(match, placeOf)}`,
    );
  }
}

function rule({ policy, direction, rule: index }: RuleMatch): string {
  return `${printable(policy.id)} ${direction}[${index}]`;
}

function place(match: RuleMatch, placeOf: PlaceOf): string {
  const at = placeOf(match.policy, match.path);
  return at === undefined ? "" : ` at ${at}`;
}

function peersOf({ policy, direction, rule: index }: RuleMatch): string {
  const peers = policy[direction].find((one) => one.index === index)?.peers ?? [];
  const texts = peers.slice(0, 3).map((peer) => printable(describePeer(peer)));
  if (peers.length > texts.length) texts.push(`${peers.length - texts.length} more`);
  return texts.length === 0 ? "nobody (its peers are invalid)" : texts.join(", ");
}
