import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Bitset } from "../../src/model/kubernetes/bitset.js";
import { ConnectionSet } from "../../src/model/kubernetes/connections.js";
import { contains, intersect, subtract, union, unionOf } from "../../src/model/kubernetes/intervals.js";
import {
  formatRange,
  formatV6,
  parseAddress,
  parseCidr,
  parseRange,
  parseV4,
  parseV6,
} from "../../src/model/kubernetes/ip.js";

const ranges = fc.array(fc.tuple(fc.nat(20), fc.nat(20)), { maxLength: 5 });

describe("interval algebra", () => {
  it("equals the algebra of the members, for numbers and bigints", () => {
    fc.assert(
      fc.property(ranges, ranges, (left, right) => {
        const member = (list: [number, number][], x: number): boolean => list.some(([s, e]) => s <= x && x < e);
        for (const wide of [false, true]) {
          const of = (list: [number, number][]) =>
            wide ? unionOf(list.map(([s, e]): [bigint, bigint] => [BigInt(s), BigInt(e)])) : unionOf(list);
          const [a, b] = [of(left), of(right)] as [number[], number[]];
          const results = [union(a, b), intersect(a, b), subtract(a, b)];
          for (let x = 0; x <= 21; x++) {
            const at = (wide ? BigInt(x) : x) as number;
            const [l, r] = [member(left, x), member(right, x)];
            expect(results.map((set) => contains(set, at))).toEqual([l || r, l && r, l && !r]);
          }
          for (const set of results) {
            expect(set.length % 2).toBe(0);
            for (let i = 1; i < set.length; i++) expect(set[i - 1]! < set[i]!).toBe(true);
          }
        }
      }),
    );
  });
});

describe("addresses", () => {
  it("reads and writes IPv4 and IPv6", () => {
    expect(parseV4("255.255.255.255")).toBe(2 ** 32 - 1);
    for (const bad of ["", "1.2.3", "1.2.3.4.5", "256.0.0.1", "01.2.3.4", "1.2.3.4 ", "a.b.c.d"])
      expect(parseV4(bad)).toBeUndefined();
    expect(parseV6("::")).toBe(0n);
    expect(parseV6("::1")).toBe(1n);
    expect(parseV6("::ffff:1.2.3.4")).toBe(0xffff01020304n);
    expect(parseV6("1:2:3:4:5:6:7:8")).toBe(0x00010002000300040005000600070008n);
    for (const bad of [
      "",
      ":",
      ":::",
      "1::2::3",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
      "1:2:3:4:5:6:7::8:9",
      "12345::",
      "::1.2.3",
      "g::",
    ]) {
      expect(parseV6(bad)).toBeUndefined();
    }
    expect(formatV6(parseV6("2001:DB8:0:0:1:0:0:0")!)).toBe("2001:db8:0:0:1::");
    expect(formatV6(parseV6("1:0:2:3:4:5:6:7")!)).toBe("1:0:2:3:4:5:6:7");
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), (value) => {
        expect(parseV6(formatV6(value))).toBe(value);
      }),
    );
  });

  it("reads CIDR blocks, cutting host bits", () => {
    expect(formatRange(parseCidr("10.1.2.3/8")!)).toBe("10.0.0.0-10.255.255.255");
    expect(formatRange(parseCidr("0.0.0.0/0")!)).toBe("0.0.0.0-255.255.255.255");
    expect(formatRange(parseCidr("2001:db8::1/32")!)).toBe("2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff");
    expect(formatRange(parseCidr("::/0")!)).toBe("::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
    for (const bad of [
      "10.0.0.0",
      "10.0.0.0/33",
      "10.0.0.0/08",
      "10.0.0.0/",
      "10.0.0.0/-1",
      "::/129",
      "x/8",
      "10.0.0.0/8/8",
    ]) {
      expect(parseCidr(bad)).toBeUndefined();
    }
  });

  it("reads back what it writes", () => {
    for (const text of ["10.0.0.0-10.9.255.255", "::1-::ff"]) expect(formatRange(parseRange(text)!)).toBe(text);
    expect(parseRange("10.0.0.1")).toEqual(parseAddress("10.0.0.1"));
    for (const bad of ["2.0.0.0-1.0.0.0", "1.0.0.0-::1", "a-b", ""]) expect(parseRange(bad)).toBeUndefined();
  });
});

describe("ConnectionSet", () => {
  it("merges and sorts", () => {
    const set = ConnectionSet.from([
      { protocol: "UDP", ports: "53" },
      { protocol: "TCP", ports: "443,80" },
      { protocol: "TCP", ports: "81-90" },
    ]);
    expect(set.connections).toEqual([
      { protocol: "TCP", ports: "80-90,443" },
      { protocol: "UDP", ports: "53" },
    ]);
    expect(set.toString()).toBe("TCP 80-90,443, UDP 53");
    expect(ConnectionSet.of("TCP", 1).connections).toEqual([{ protocol: "TCP", ports: "1" }]);
    expect(ConnectionSet.of("SCTP").toString()).toBe("SCTP any port");
  });

  it("knows everything and nothing", () => {
    const all = ConnectionSet.of("TCP")
      .union(ConnectionSet.of("UDP"))
      .union(ConnectionSet.of("SCTP", 1, 65535));
    expect(all.isAll).toBe(true);
    expect(all.connections.map(({ protocol, ports }) => `${protocol} ${ports}`)).toEqual([
      "SCTP 1-65535",
      "TCP 1-65535",
      "UDP 1-65535",
    ]);
    expect(all.toString()).toBe("all connections");
    expect(ConnectionSet.NONE.toString()).toBe("nothing");
    expect(ConnectionSet.ALL.subtract(all).isEmpty).toBe(true);
    expect(all.covers(ConnectionSet.of("TCP", 80))).toBe(true);
    expect(ConnectionSet.of("TCP", 80).covers(all)).toBe(false);
  });

  it("refuses what is no list of ports", () => {
    for (const ports of ["", "0", "65536", "9-8", "a", "1-2-3"]) {
      expect(() => ConnectionSet.from([{ protocol: "TCP", ports }])).toThrow(RangeError);
    }
  });
});

describe("Bitset", () => {
  it("is a set of small numbers", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(99)), fc.nat(100), fc.nat(100), (members, start, end) => {
        const bits = new Bitset(100);
        const model = new Set(members);
        for (const m of members) bits.add(m);
        bits.fill(start, end);
        for (let i = start; i < end; i++) model.add(i);
        const copy = new Bitset(100);
        copy.addAll(bits);
        const seen: number[] = [];
        copy.forEach((m) => {
          seen.push(m);
        });
        expect(seen).toEqual([...model].sort((a, b) => a - b));
        expect(copy.isEmpty).toBe(model.size === 0);
        for (let i = 0; i < 130; i++) expect(bits.has(i)).toBe(model.has(i));
      }),
    );
  });
});
