/** Units that names tell. */

/** The unit of a time by the end of its name: `ttlMs`, `window_seconds`; undefined for every other text. */
export function unitOfName(name: string): "milliseconds" | "seconds" | undefined {
  if (!/^[A-Za-z_]\w{0,60}$/.test(name)) return undefined;
  if (/(?:Ms|MS|_ms|[a-z]Millis|_millis|[mM]illiseconds|_msecs?|Msecs?)$|^(?:ms|millis)$/.test(name))
    return "milliseconds";
  if (/(?:[a-z]Secs?|_secs?|[sS]econds)$|^(?:secs?)$/.test(name)) return "seconds";
  return undefined;
}
