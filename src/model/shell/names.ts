/** Which variables statements and builtins assign. */
import { partsOf, type Statement, type Word } from "../../document/shell.js";
import type { Text } from "./text.js";

/** Builtins whose arguments may be assignments. */
export const ASSIGNING = new Set(["export", "local", "readonly", "declare", "typeset"]);
/** Variables that the shell changes by itself. */
export const MOVING = new Set(["SECONDS", "RANDOM", "LINENO", "EPOCHSECONDS", "BASHPID", "OLDPWD", "PWD"]);

/** `NAME` of a word `NAME=…`. */
export function assignmentName(word: Word): string | undefined {
  const first = partsOf(word)[0];
  if (first?.type !== "text" || first.quote !== undefined) return undefined;
  return /^([A-Za-z_]\w*)\+?=/.exec(first.text)?.[1];
}

/** `eval NAME="\$OTHER_$N"` sets one variable, whatever the rest is. */
export function evalAssigns(arg: Text): string | undefined {
  const [first] = arg.pieces;
  const name = typeof first === "string" ? /^([A-Za-z_]\w*)=/.exec(first)?.[1] : undefined;
  const text = arg.pieces.map((piece) => (typeof piece === "string" ? piece : "")).join("");
  return name !== undefined && !/[;&|`()\s]/.test(text) ? name : undefined;
}

/** Names that an arithmetic expression changes. */
export function assignedInArithmetic(text: string): string[] {
  const out: string[] = [];
  for (const match of text.matchAll(
    /([A-Za-z_]\w*)\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))|(?:\+\+|--)\s*([A-Za-z_]\w*)/g,
  )) {
    out.push((match[1] ?? match[2])!);
  }
  return out;
}

/** Variables that a builtin sets from its input or arguments. */
export function assignedByBuiltin(name: string, words: readonly Word[]): string[] {
  const args = words.slice(1).map((word) => word.text ?? "");
  const names = (list: readonly string[]): string[] => list.filter((arg) => /^[A-Za-z_]\w*$/.test(arg));
  if (name === "read" || name === "mapfile" || name === "readarray") return names(args);
  if (name === "getopts") return [...names(args.slice(1, 2)), "OPTARG", "OPTIND"];
  if (name === "printf" && args[0] === "-v") return names(args.slice(1, 2));
  if (name === "cd" || name === "pushd" || name === "popd") return ["PWD"];
  if (name === "let") return args.flatMap(assignedInArithmetic);
  if (name === "unset") return names(args);
  if (ASSIGNING.has(name)) return words.slice(1).flatMap((word) => assignmentName(word) ?? []);
  return [];
}

const LOCALS = new WeakMap<Statement, string[]>();

/** Variables that a function body declares as its own. */
export function localNames(body: Statement): string[] {
  let names = LOCALS.get(body);
  if (names === undefined) {
    const found = new Set<string>();
    eachStatement([body], (statement) => {
      if (statement.type !== "command") return;
      const name = statement.words[0]?.text;
      if (name !== "local" && name !== "declare" && name !== "typeset") return;
      for (const word of statement.words.slice(1)) {
        const local = assignmentName(word) ?? (/^[A-Za-z_]\w*$/.test(word.text ?? "") ? word.text : undefined);
        if (local !== undefined) found.add(local);
      }
    });
    names = [...found];
    LOCALS.set(body, names);
  }
  return names;
}

/** Calls `visit` for statements and those inside them; not for substitutions and nested scripts, which cannot assign. */
export function eachStatement(statements: readonly Statement[], visit: (statement: Statement) => void): void {
  const stack: Statement[] = [...statements].reverse();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    visit(next);
    const push = (list: readonly Statement[]): void => {
      for (let i = list.length - 1; i >= 0; i--) stack.push(list[i]!);
    };
    switch (next.type) {
      case "pipeline":
        push(next.commands);
        break;
      case "andor":
        push(next.items);
        break;
      case "if":
        if (next.otherwise !== undefined) push(next.otherwise);
        for (let i = next.clauses.length - 1; i >= 0; i--) {
          push(next.clauses[i]!.body);
          push(next.clauses[i]!.test);
        }
        break;
      case "loop":
        push(next.body);
        push(next.test);
        break;
      case "for":
      case "group":
      case "subshell":
        push(next.body);
        break;
      case "case":
        for (let i = next.items.length - 1; i >= 0; i--) push(next.items[i]!.body);
        break;
      case "function":
        push([next.body]);
        break;
      default:
        break;
    }
  }
}
