/** Sets of (protocol, port): what one endpoint may open towards another. */

import { type Bounds, contains, EMPTY, equal, intersect, subtract, union, unionOf } from "./intervals.js";

export type Protocol = "SCTP" | "TCP" | "UDP";

/** The protocols that a NetworkPolicy knows, in the order of every output. */
export const PROTOCOLS: readonly Protocol[] = ["SCTP", "TCP", "UDP"];

/** `ports` as `6379`, `80,443`, `1-65535`. */
export interface Connection {
  readonly protocol: Protocol;
  readonly ports: string;
}

const ALL_PORTS: Bounds<number> = [1, 65536];

/** Ports as text: ascending, neighbours joined. */
function formatPorts(bounds: Bounds<number>): string {
  const parts: string[] = [];
  for (let i = 0; i < bounds.length; i += 2) {
    const first = bounds[i]!;
    const last = bounds[i + 1]! - 1;
    parts.push(first === last ? String(first) : `${first}-${last}`);
  }
  return parts.join(",");
}

function parsePorts(text: string): Bounds<number> {
  const ranges: [number, number][] = [];
  for (const part of text.split(",")) {
    const found = /^\s*(\d{1,5})(?:-(\d{1,5}))?\s*$/.exec(part);
    if (found === null) throw new RangeError(`not a list of ports: ${JSON.stringify(text.slice(0, 40))}`);
    const first = Number(found[1]);
    const last = found[2] === undefined ? first : Number(found[2]);
    if (first < 1 || last > 65535 || first > last) throw new RangeError(`not a range of ports: ${part.trim()}`);
    ranges.push([first, last + 1]);
  }
  return unionOf(ranges);
}

/** An immutable set of connections. Ports are 1 … 65535. */
export class ConnectionSet {
  static readonly NONE = new ConnectionSet(EMPTY, EMPTY, EMPTY);
  static readonly ALL = new ConnectionSet(ALL_PORTS, ALL_PORTS, ALL_PORTS);

  readonly sctp: Bounds<number>;
  readonly tcp: Bounds<number>;
  readonly udp: Bounds<number>;
  #json: readonly Connection[] | undefined;

  private constructor(sctp: Bounds<number>, tcp: Bounds<number>, udp: Bounds<number>) {
    this.sctp = sctp;
    this.tcp = tcp;
    this.udp = udp;
  }

  /** The ports `first … last` of one protocol; without ports all of them. */
  static of(protocol: Protocol, first?: number, last = first): ConnectionSet {
    const bounds = [first ?? 1, (last ?? 65535) + 1];
    return new ConnectionSet(
      protocol === "SCTP" ? bounds : EMPTY,
      protocol === "TCP" ? bounds : EMPTY,
      protocol === "UDP" ? bounds : EMPTY,
    );
  }

  /** Reads what `connections` gives. Throws RangeError on text that is no list of ports. */
  static from(connections: Iterable<Connection>): ConnectionSet {
    let sctp: Bounds<number> = EMPTY;
    let tcp: Bounds<number> = EMPTY;
    let udp: Bounds<number> = EMPTY;
    for (const { protocol, ports } of connections) {
      const bounds = parsePorts(ports);
      if (protocol === "SCTP") sctp = union(sctp, bounds);
      else if (protocol === "TCP") tcp = union(tcp, bounds);
      else udp = union(udp, bounds);
    }
    return new ConnectionSet(sctp, tcp, udp);
  }

  get isEmpty(): boolean {
    return this.sctp.length === 0 && this.tcp.length === 0 && this.udp.length === 0;
  }

  get isAll(): boolean {
    return this.equals(ConnectionSet.ALL);
  }

  ports(protocol: Protocol): Bounds<number> {
    return protocol === "TCP" ? this.tcp : protocol === "UDP" ? this.udp : this.sctp;
  }

  has(protocol: Protocol, port: number): boolean {
    return contains(this.ports(protocol), port);
  }

  union(other: ConnectionSet): ConnectionSet {
    return new ConnectionSet(union(this.sctp, other.sctp), union(this.tcp, other.tcp), union(this.udp, other.udp));
  }

  intersect(other: ConnectionSet): ConnectionSet {
    return new ConnectionSet(
      intersect(this.sctp, other.sctp),
      intersect(this.tcp, other.tcp),
      intersect(this.udp, other.udp),
    );
  }

  subtract(other: ConnectionSet): ConnectionSet {
    return new ConnectionSet(
      subtract(this.sctp, other.sctp),
      subtract(this.tcp, other.tcp),
      subtract(this.udp, other.udp),
    );
  }

  equals(other: ConnectionSet): boolean {
    return equal(this.sctp, other.sctp) && equal(this.tcp, other.tcp) && equal(this.udp, other.udp);
  }

  covers(other: ConnectionSet): boolean {
    return other.subtract(this).isEmpty;
  }

  /** Merged and sorted, one entry per protocol; the same array on every call. */
  get connections(): readonly Connection[] {
    if (this.#json === undefined) {
      const list: Connection[] = [];
      for (const protocol of PROTOCOLS) {
        const bounds = this.ports(protocol);
        if (bounds.length > 0) list.push(Object.freeze({ protocol, ports: formatPorts(bounds) }));
      }
      this.#json = Object.freeze(list);
    }
    return this.#json;
  }

  /** `TCP 6379, UDP 53`; `all connections`; `nothing`. */
  toString(): string {
    if (this.isEmpty) return "nothing";
    return this.isAll ? "all connections" : describeConnections(this.connections);
  }
}

/** Connections in words, as `toString` of their set but without reading the port lists. */
export function describeConnections(connections: readonly Connection[]): string {
  if (connections.length === 0) return "nothing";
  if (connections.length === PROTOCOLS.length && connections.every(({ ports }) => ports === "1-65535")) {
    return "all connections";
  }
  return connections.map(({ protocol, ports }) => `${protocol} ${ports === "1-65535" ? "any port" : ports}`).join(", ");
}
