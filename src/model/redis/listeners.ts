/** The ports that a server listens on. */
import type { Span } from "../../text/source.js";
import { valueAt } from "./conf-place.js";
import type { ConfValue, ConfValues } from "./conf-values.js";

export interface Listener {
  readonly directive: "port" | "tls-port";
  readonly tls: boolean;
  readonly port: number;
  /** undefined for the default port. */
  readonly at: Span | undefined;
}

/** The place is found when somebody reports it. */
class SetListener implements Listener {
  readonly directive: Listener["directive"];
  readonly port: number;
  readonly #value: ConfValue;

  constructor(directive: Listener["directive"], port: number, value: ConfValue) {
    this.directive = directive;
    this.port = port;
    this.#value = value;
  }

  get tls(): boolean {
    return this.directive === "tls-port";
  }

  get at(): Span | undefined {
    return valueAt(this.#value)?.span;
  }
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
      open.push(new SetListener(directive, port, value));
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
