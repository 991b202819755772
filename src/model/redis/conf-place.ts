/** Places in configurations: of a value, and of what is not there. */
import { type Place, PlaceOf } from "../place.js";
import type { Server } from "../plane.js";
import { firstLine } from "./access.js";
import type { ConfLoad } from "./conf.js";
import type { ConfValue } from "./conf-values.js";

/** The value's first word; the line where it has none; undefined where no line sets it. */
export function valueAt(value: ConfValue): Place | undefined {
  return value.state === "absent" || value.statement === undefined
    ? undefined
    : new PlaceOf(value.args[0] ?? value.statement);
}

/** The line that makes something needed which is not there: the first of `names` that is set, else the text's first line. */
export function whereNeeded(server: Server, load: ConfLoad, ...names: readonly string[]): Place | undefined {
  for (const name of names) {
    const value = load.values.get(name);
    if (value.state !== "absent" && value.statement !== undefined) return new PlaceOf(value.statement);
  }
  return server.conf === undefined ? undefined : firstLine(server.conf.view);
}

/** A line that no server knows is surely meant to be this directive: that it is missing is said there already. */
export function isMisspelt(load: ConfLoad, name: string): boolean {
  return load.findings.some(
    (f) => (f.code === "unknown-directive" || f.code === "sentinel-option") && f.right === name,
  );
}

/** Where a directive is set to what it should not be, else where it is needed; undefined where it is set by a wrong name. */
export function whereSet(server: Server, load: ConfLoad, name: string, ...names: readonly string[]): Place | undefined {
  const own = valueAt(load.values.get(name));
  return own ?? (isMisspelt(load, name) ? undefined : whereNeeded(server, load, ...names));
}
