/**
 * The servers whose command tables ship, and which of them a written version means.
 */

import commands from "../../../schemas/redis/commands.json?data";
import { CommandTable, type PackedTables } from "./commands.js";

export type Flavour = "redis" | "valkey";

/** A server as written by a user, resolved to one of the tables that ship. */
export interface Server {
  /** The name of the table, e.g. `redis-7.2` or `valkey-8.0/sentinel`. */
  readonly id: string;
  readonly flavour: Flavour;
  readonly sentinel: boolean;
  /** Debian's patched build. */
  readonly debian: boolean;
  /** Version whose behaviour is judged, `[major, minor, patch]`; the table's patch where none was written. */
  readonly version: readonly [number, number, number];
  /** Major and minor that were asked for; those of the table where none were. */
  readonly asked: readonly [number, number];
  readonly table: CommandTable;
  /** Said when the table is not exactly the version that was asked for. */
  readonly note?: string;
}

interface Known {
  readonly id: string;
  readonly flavour: Flavour;
  readonly debian: boolean;
  readonly version: readonly [number, number, number];
}

const tables = commands() as PackedTables;

const known: readonly Known[] = Object.keys(tables.servers)
  .filter((id) => !id.endsWith("/sentinel"))
  .map((id) => ({
    id,
    flavour: id.startsWith("valkey") ? ("valkey" as const) : ("redis" as const),
    debian: id.endsWith("-debian"),
    version: triple(tables.servers[id]!.version),
  }));

/** Names of the tables that ship, without the `/sentinel` ones. */
export const serverNames: readonly string[] = known.map((k) => k.id);

/** One table per name, made at first use. The packed data are immutable. */
const loaded = new WeakMap<PackedTables["servers"][string], CommandTable>();

/** The command table of a name that ships (see `serverNames`, with or without `/sentinel`), or undefined. */
export function commandTable(id: string): CommandTable | undefined {
  const server = tables.servers[id];
  if (server === undefined) return undefined;
  let table = loaded.get(server);
  if (table === undefined) {
    table = CommandTable.unpack(id, tables, server);
    loaded.set(server, table);
  }
  return table;
}

/**
 * Resolves `7.2`, `redis-7.2`, `redis:7.2.5-alpine`, `valkey 8.0.1`, `redis-7.0-debian`, each with an optional `/sentinel`.
 * Without a flavour it is Redis. A version without a table takes the nearest lower table of its flavour and says so in
 * `note`; one below all takes the lowest. undefined for a text that is no version.
 */
export function resolveServer(name: string): Server | undefined {
  const match =
    /^\s*(?:(redis|valkey)\b)?[\s:@/_-]*v?(\d{1,4})(?:\.(\d{1,4}))?(?:\.(\d{1,4}))?([\w.+~:-]*?)(\/sentinel)?\s*$/i.exec(
      name,
    );
  if (match === null) return undefined;
  const flavour: Flavour = match[1]?.toLowerCase() === "valkey" ? "valkey" : "redis";
  const major = Number(match[2]);
  const minor = match[3] === undefined ? undefined : Number(match[3]);
  const patch = match[4] === undefined ? undefined : Number(match[4]);
  const wantsDebian = /deb/i.test(match[5] ?? "");
  const asked =
    minor === undefined ? `${major}` : patch === undefined ? `${major}.${minor}` : `${major}.${minor}.${patch}`;

  const own = known.filter((k) => k.flavour === flavour && !k.debian);
  const order = (k: Known): number => k.version[0] * 10_000 + k.version[1];
  own.sort((a, b) => order(a) - order(b));
  const limit = major * 10_000 + (minor ?? 9_999);
  let best = own[0]!;
  for (const k of own) if (order(k) <= limit) best = k;
  const exact = best.version[0] === major && best.version[1] === minor;
  let note: string | undefined;
  if (order(best) > limit) note = `${flavour} ${asked} is older than every table: judged as ${best.id}`;
  else if (!exact) note = `no table for ${flavour} ${asked}: judged as ${best.id}`;
  if (exact && wantsDebian) {
    best = known.find((k) => k.debian && k.version[0] === major && k.version[1] === minor) ?? best;
  }

  const wantsSentinel = match[6] !== undefined;
  let id = wantsSentinel ? `${best.id}/sentinel` : best.id;
  if (tables.servers[id] === undefined) {
    best = own.find((k) => tables.servers[`${k.id}/sentinel`] !== undefined && order(k) >= order(best)) ?? best;
    note = `no Sentinel table for ${flavour} ${asked}: judged as ${best.id}/sentinel`;
    id = `${best.id}/sentinel`;
  }
  const version: readonly [number, number, number] = [
    best.version[0],
    best.version[1],
    exact && patch !== undefined ? patch : best.version[2],
  ];
  const base = {
    id,
    flavour,
    sentinel: wantsSentinel,
    debian: best.debian,
    version,
    asked: [major, minor ?? best.version[1]] as const,
    table: commandTable(id)!,
  };
  return note === undefined ? base : { ...base, note };
}

function triple(version: string): [number, number, number] {
  const [a = 0, b = 0, c = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  return [a, b, c];
}

/** Without a written version: what every one of these refuses is refused. */
export const CURRENT: readonly string[] = ["redis-7.2", "redis-8.0", "valkey-8.1", "valkey-9.1"];
