/** A Kubernetes object: one YAML document or one item of a `kind: List`. */
import type { Path, YamlDocument } from "../../document/yaml.js";
import type { InputFile } from "../input.js";
import { NodePlace, type Place } from "../place.js";
import { asObject, asString, at, type Obj, stringMap } from "../value.js";

export class KubeObject {
  readonly input: InputFile;
  readonly document: YamlDocument;
  /** Where the object stands in its document: `[]`, or `["items", 2]` in a List. */
  readonly base: Path;
  readonly value: Obj;
  readonly apiVersion: string;
  /** API group, `""` for core. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly name: string;
  /** As written in the file. */
  readonly ownNamespace: string | undefined;
  /** Where it lands: what the file names, or what the contract file declares for those that name none, or `default`. */
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;

  constructor(input: InputFile, document: YamlDocument, base: Path, value: Obj, home: string) {
    this.input = input;
    this.document = document;
    this.base = base;
    this.value = value;
    this.apiVersion = asString(value["apiVersion"]) ?? "";
    const slash = this.apiVersion.indexOf("/");
    this.group = slash < 0 ? "" : this.apiVersion.slice(0, slash);
    this.version = slash < 0 ? this.apiVersion : this.apiVersion.slice(slash + 1);
    this.kind = asString(value["kind"]) ?? "";
    const metadata = asObject(value["metadata"]);
    this.name = asString(metadata["name"]) ?? asString(metadata["generateName"]) ?? "";
    this.ownNamespace = asString(metadata["namespace"]);
    this.namespace = this.ownNamespace ?? home;
    this.labels = stringMap(metadata["labels"]);
    this.annotations = stringMap(metadata["annotations"]);
  }

  /** `StatefulSet redis-data`: how messages name it. */
  get title(): string {
    return `${this.kind} ${this.name}`;
  }

  /** `StatefulSet/redis-data`: how contract files name it. */
  get ref(): string {
    return `${this.kind}/${this.name}`;
  }

  get(...path: Path): unknown {
    return at(this.value, path);
  }

  has(...path: Path): boolean {
    return at(this.value, path) !== undefined;
  }

  /** The value's place; for one that is missing, the key that should have held it. */
  at(...path: Path): Place {
    return new NodePlace(this.document, [...this.base, ...path]);
  }

  key(...path: Path): Place {
    return new NodePlace(this.document, [...this.base, ...path], "key");
  }

  missing(...path: Path): Place {
    return new NodePlace(this.document, [...this.base, ...path], "missing");
  }

  /** The `name` in metadata: the place of what concerns the object as a whole. */
  get here(): Place {
    return this.at("metadata", "name");
  }
}
