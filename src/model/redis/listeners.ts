/** The ports that a server listens on. */
import type { Span } from "../../text/source.js";
import { valueAt } from "./conf-place.js";
import type { ConfValues } from "./conf-values.js";

export interface Listener {
  readonly directive: "port" | "tls-port";
  readonly tls: boolean;
  readonly port: number;
  /** undefined for the default port. */
  readonly at: Span | undefined;
}

export interface Listeners {
  readonly open: readonly Listener[];
  /** Both ports are known; else more than `open` may be open. */
  readonly known: boolean;
}

export function listenersOf(values: ConfValues): Listeners {
  const open: Listener[] = [];
  let known = true;
  for (const directive of ["port", "tls-port"] as const) {
    const port = values.number(directive);
    if (port === undefined) known = false;
    else if (port > 0) {
      const value = values.get(directive);
      open.push({
        directive,
        tls: directive === "tls-port",
        port,
        get at() {
          return valueAt(value);
        },
      });
    }
  }
  return { open, known };
}

/** Whether a server takes TLS connections; undefined: not known. */
export function servesTls(values: ConfValues): boolean | undefined {
  const port = values.number("tls-port");
  if (port !== undefined) return port > 0;
  const value = values.get("tls-port");
  return value.state === "unknown" && value.set ? true : undefined;
}

/** Whether a server takes nothing but TLS connections; undefined: not known. */
export function servesTlsOnly(values: ConfValues): boolean | undefined {
  const tls = servesTls(values);
  const plain = values.number("port");
  if (tls === false || (plain !== undefined && plain > 0)) return false;
  return tls === true && plain === 0 ? true : undefined;
}
