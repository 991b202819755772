/** The edge list as JSON: `{ "version": 1, "edges": [{ "from", "to", "connections": [{ "protocol", "ports" }] }] }`. */

import type { Connection } from "../../model/kubernetes/connections.js";
import type { NetworkEdge } from "../../model/kubernetes/network.js";

/**
 * The document in pieces, to be written one after the other: a large cluster's list is longer than a JavaScript string
 * can be. Edges come as given, which is sorted.
 */
export function* graphJsonChunks(edges: Iterable<NetworkEdge>): Generator<string> {
  const connections = new Map<readonly Connection[], string>();
  let chunk = '{\n  "version": 1,\n  "edges": [';
  let first = true;
  for (const edge of edges) {
    let text = connections.get(edge.connections);
    if (text === undefined) {
      const items = edge.connections.map(({ protocol, ports }) => JSON.stringify({ protocol, ports }));
      text = `[${items.join(", ")}]`;
      connections.set(edge.connections, text);
    }
    const { from, to } = edge;
    chunk += `${first ? "" : ","}\n    { "from": ${JSON.stringify(from)}, "to": ${JSON.stringify(to)}, "connections": ${text} }`;
    first = false;
    if (chunk.length > 65_536) {
      yield chunk;
      chunk = "";
    }
  }
  yield `${chunk}${first ? "" : "\n  "}]\n}\n`;
}

/** The whole document; for edge lists of ordinary size. */
export function graphJson(edges: Iterable<NetworkEdge>): string {
  return [...graphJsonChunks(edges)].join("");
}
