/**
 * Parts of a container as the model hands them out. Where one stands is found when somebody asks: most have no finding, and a
 * contract may hold a hundred thousand of them.
 */
import type { Path } from "../../document/yaml.js";
import type { TextView } from "../../text/source.js";
import { normalizePath } from "../file-path.js";
import { NodePlace, type Place } from "../place.js";
import { asString, type Obj } from "../value.js";
import type { Container, Volume } from "./workload.js";

/** A security setting and where it is set; `undefined` value: set nowhere, `place` is where it should stand. */
export class Effective {
  readonly value: unknown;
  readonly level: "container" | "pod" | "none";
  readonly #container: Container;
  readonly #field: string;

  constructor(value: unknown, level: Effective["level"], container: Container, field: string) {
    this.value = value;
    this.level = level;
    this.#container = container;
    this.#field = field;
  }

  get place(): Place {
    const container = this.#container;
    if (this.level === "pod") return container.workload.podAt("securityContext", this.#field);
    return this.level === "container"
      ? container.at("securityContext", this.#field)
      : container.missing("securityContext", this.#field);
  }
}

/** An item of a list in a container. */
class Item {
  readonly container: Container;
  readonly #index: number;
  readonly #list: string;

  constructor(container: Container, list: string, index: number) {
    this.container = container;
    this.#list = list;
    this.#index = index;
  }

  /** Path inside the object. */
  get path(): Path {
    return [...this.container.path, this.#list, this.#index];
  }

  get place(): Place {
    return this.container.workload.at(...this.path);
  }
}

export class Mount extends Item {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath: string | undefined;
  readonly readOnly: boolean;

  constructor(container: Container, index: number, spec: Obj) {
    super(container, "volumeMounts", index);
    this.name = asString(spec["name"]) ?? "";
    this.mountPath = normalizePath(asString(spec["mountPath"]) ?? "");
    this.subPath = asString(spec["subPath"]) ?? asString(spec["subPathExpr"]);
    this.readOnly = spec["readOnly"] === true;
  }

  get volume(): Volume | undefined {
    return this.container.workload.volumes.get(this.name);
  }
}

export class ContainerPort extends Item {
  readonly name: string | undefined;
  readonly port: number | undefined;
  readonly protocol: string;
  readonly hostPort: unknown;

  constructor(container: Container, index: number, spec: Obj) {
    super(container, "ports", index);
    const port = spec["containerPort"];
    this.name = asString(spec["name"]);
    this.port = typeof port === "number" ? port : undefined;
    this.protocol = asString(spec["protocol"]) ?? "TCP";
    this.hostPort = spec["hostPort"];
  }

  override get place(): Place {
    return this.container.workload.at(...this.path, "containerPort");
  }
}

export class EnvironmentVariable extends Item {
  readonly name: string;
  readonly spec: Obj;

  constructor(container: Container, index: number, spec: Obj) {
    super(container, "env", index);
    this.name = asString(spec["name"]) ?? "";
    this.spec = spec;
  }
}

/** A word of a command, read when asked for: who looks at a word is then known. */
class ListedWord {
  readonly #container: Container;
  readonly #list: Path;
  readonly #items: readonly unknown[];
  readonly #index: number;

  constructor(container: Container, list: Path, items: readonly unknown[], index: number) {
    this.#container = container;
    this.#list = list;
    this.#items = items;
    this.#index = index;
  }

  get text(): string {
    const word = this.#items[this.#index];
    return typeof word === "string" ? word : String(word);
  }

  /** False for a list or mapping, which is no word. */
  get scalar(): boolean {
    const word = this.#items[this.#index];
    return word === null || typeof word !== "object";
  }

  get #path(): Path {
    const { workload, path } = this.#container;
    return [...workload.base, ...path, ...this.#list, this.#index];
  }

  get place(): Place {
    return new NodePlace(this.#container.workload.document, this.#path);
  }

  view(): TextView | undefined {
    return this.#container.workload.document.view(this.#path);
  }
}

/** An argument vector in a manifest; each word has its place, and its text as a view. */
export class Command {
  /** What it is: `entrypoint` (command + args), a probe, a lifecycle hook. */
  readonly origin: "entrypoint" | "liveness" | "readiness" | "startup" | "postStart" | "preStop";
  readonly container: Container;
  readonly words: readonly ListedWord[];
  /** Whether `command` is given (else the image's entrypoint comes first). */
  readonly explicit: boolean;
  /** The lists of the document that the words stand in: while they are the same values, so is the command. */
  readonly lists: readonly (readonly unknown[])[];
  readonly #path: Path;

  /** `paths`: the fields that hold the lists, the first of which names the command. */
  constructor(origin: Command["origin"], container: Container, paths: readonly Path[], lists: Command["lists"]) {
    this.origin = origin;
    this.container = container;
    this.#path = paths[0]!;
    this.explicit = this.#path[0] !== "args";
    this.lists = lists;
    const words: ListedWord[] = [];
    lists.forEach((items, n) => {
      for (let i = 0; i < items.length; i++) words.push(new ListedWord(container, paths[n]!, items, i));
    });
    this.words = words;
  }

  get place(): Place {
    return this.container.key(...this.#path);
  }
}

/** How a message names a command: by its container, and by what it is where it is not what the container runs. */
export function commandTitle({ origin, container }: Command): string {
  return origin === "entrypoint" ? container.title : `the ${origin} command of ${container.title}`;
}

/** Whether it is what a probe runs. */
export function isProbe({ origin }: Command): boolean {
  return origin === "liveness" || origin === "readiness" || origin === "startup";
}

export class Probe {
  readonly type: "liveness" | "readiness" | "startup";
  readonly container: Container;
  readonly spec: Obj;
  /** `exec`, `tcpSocket`, `httpGet`, `grpc`, or `none`. */
  readonly handler: string;
  readonly command: Command | undefined;

  constructor(type: Probe["type"], container: Container, spec: Obj, handler: string, command: Command | undefined) {
    this.type = type;
    this.container = container;
    this.spec = spec;
    this.handler = handler;
    this.command = command;
  }

  get #field(): string {
    return `${this.type}Probe`;
  }

  get place(): Place {
    return this.container.key(this.#field);
  }

  at(...path: Path): Place {
    return this.container.at(this.#field, ...path);
  }

  missing(...path: Path): Place {
    return this.container.missing(this.#field, ...path);
  }
}
