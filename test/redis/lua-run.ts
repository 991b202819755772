/** The least of Lua that the recorded scripts need: it runs them far enough to know which commands they call, in order. */
import { createRequire } from "node:module";
import type { AclUser, DryRun } from "../../src/model/redis/acl.js";

// The parser ships without types.
const luaparse = createRequire(import.meta.url)("luaparse") as { parse(code: string, options: object): Node };

type Node = { type: string } & Record<string, unknown>;
type Value = string | number | boolean | null | Value[];

/** A refused `redis.call` ends the script. */
class Refused extends Error {}
class Returned extends Error {}

/**
 * Runs the script of an EVAL call (anything else has none): false when a `redis.call` is refused. Scripts that do not compile
 * or fail otherwise are refused by nothing.
 */
export function runScript(
  argv: readonly string[],
  user: AclUser,
  call: (argv: string[]) => DryRun,
  check: (argv: string[]) => boolean,
): boolean {
  if (!/^eval(_ro)?$/i.test(argv[0]!)) return true;
  const source = argv[1]!;
  const count = Number(argv[2]);
  // Before 7.0 a script that starts with a shebang does not compile.
  if (source.startsWith("#!") && !user.behaviour.modern) return true;
  let chunk: Node;
  try {
    chunk = luaparse.parse(source.replace(/^#![^\n]*/, ""), {
      luaVersion: "5.1",
      encodingMode: "pseudo-latin1",
    });
  } catch {
    return true;
  }
  const globals: Record<string, Value> = { KEYS: argv.slice(3, 3 + count), ARGV: argv.slice(3 + count) };
  try {
    new Run(globals, call, check).block(chunk["body"] as Node[]);
  } catch (error) {
    if (error instanceof Refused) return false;
    if (!(error instanceof Returned)) throw error;
  }
  return true;
}

class Run {
  readonly #names: Record<string, Value>;
  readonly #call: (argv: string[]) => DryRun;
  readonly #check: (argv: string[]) => boolean;

  constructor(names: Record<string, Value>, call: (argv: string[]) => DryRun, check: (argv: string[]) => boolean) {
    this.#names = names;
    this.#call = call;
    this.#check = check;
  }

  block(body: readonly Node[]): void {
    for (const node of body) this.#statement(node);
  }

  #statement(node: Node): void {
    if (node.type === "CallStatement") this.#value(node["expression"] as Node);
    else if (node.type === "LocalStatement") {
      const values = (node["init"] as Node[]).map((n) => this.#value(n));
      (node["variables"] as Node[]).forEach((v, i) => {
        this.#names[v["name"] as string] = values[i] ?? null;
      });
    } else if (node.type === "IfStatement") {
      for (const clause of node["clauses"] as Node[]) {
        if (clause.type !== "ElseClause" && !truthy(this.#value(clause["condition"] as Node))) continue;
        this.block(clause["body"] as Node[]);
        return;
      }
    } else if (node.type === "ReturnStatement") {
      for (const argument of node["arguments"] as Node[]) this.#value(argument);
      throw new Returned();
    } else if (node.type !== "AssignmentStatement") throw new Error(`no ${node.type} here`);
  }

  #value(node: Node): Value {
    switch (node.type) {
      case "StringLiteral":
      case "NumericLiteral":
      case "BooleanLiteral":
        return node["value"] as Value;
      case "Identifier":
        return this.#names[node["name"] as string] ?? null;
      case "IndexExpression": {
        const base = this.#value(node["base"] as Node);
        const index = this.#value(node["index"] as Node);
        return Array.isArray(base) ? (base[Number(index) - 1] ?? null) : null;
      }
      case "BinaryExpression": {
        const [left, right] = [this.#value(node["left"] as Node), this.#value(node["right"] as Node)];
        if (node["operator"] === "..") return `${left}${right}`;
        return node["operator"] === "==" ? left === right : left !== right;
      }
      case "CallExpression":
        return this.#called(node);
      default:
        return null;
    }
  }

  #called(node: Node): Value {
    const base = node["base"] as Node;
    const name = ((base["identifier"] ?? base) as Node)["name"] as string;
    const argv = (node["arguments"] as Node[]).map((n) => String(this.#value(n)));
    if (name === "acl_check_cmd") return this.#check(argv);
    if (name !== "call" && name !== "pcall") return null;
    const verdict = this.#call(argv);
    // A command that does not exist ends the script too, but no ACL says so.
    if (name === "call" && verdict.denied === "call") throw new Returned();
    if (name === "call" && !verdict.allowed) throw new Refused();
    return null;
  }
}

const truthy = (value: Value): boolean => value !== null && value !== false;
