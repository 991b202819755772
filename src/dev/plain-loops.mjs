/**
 * Loops over arrays, the taking apart and the joining of arrays without iterators. An interpreter makes an iterator for each
 * `for…of` and an object for each step of it: six times the cost of counting, and a fifth of what a short run allocates. Only
 * the compiler of TypeScript knows what is an array, so the build asks it; everything else keeps its iterator.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";

const root = join(import.meta.dirname, "../..");

/** The sources of a program by absolute path, as far as something in them changes; `entries` are absolute paths. */
export function plainLoops(entries) {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram(entries, options);
  const checker = program.getTypeChecker();
  const texts = new Map();
  for (const file of program.getSourceFiles()) {
    if (file.isDeclarationFile || file.fileName.includes("/node_modules/")) continue;
    const text = rewritten(file, checker);
    if (text !== file.text) texts.set(resolve(file.fileName), text);
  }
  return texts;
}

function rewritten(file, checker) {
  let count = 0;
  return textOf(file);

  /** The text of a node with all that is in it rewritten. */
  function textOf(node) {
    if (ts.isForOfStatement(node)) return loop(node) ?? inside(node);
    if (ts.isArrayBindingPattern(node)) return pattern(node) ?? inside(node);
    if (ts.isArrayLiteralExpression(node)) return joined(node) ?? inside(node);
    return inside(node);
  }

  function inside(node) {
    let text = "";
    let at = node.pos;
    ts.forEachChild(node, (child) => {
      text += file.text.slice(at, child.pos) + textOf(child);
      at = child.end;
    });
    return text + file.text.slice(at, node.end);
  }

  /** `for (const a of list)` counts, where the list is an array. */
  function loop(node) {
    const { initializer, expression, statement } = node;
    if (node.awaitModifier !== undefined || !ts.isVariableDeclarationList(initializer)) return undefined;
    // `var` would outlive the loop
    if ((initializer.flags & ts.NodeFlags.BlockScoped) === 0) return undefined;
    if (!isArray(checker.getTypeAtLocation(expression), checker)) return undefined;
    const n = count++;
    const start = file.text.slice(node.pos, node.getStart(file));
    const counted = `for (let $list${n} = (${textOf(expression).trim()}), $at${n} = 0; $at${n} < $list${n}.length; $at${n}++)`;
    return `${start}${counted} { ${textOf(initializer).trim()} = $list${n}[$at${n}]; ${textOf(statement).trim()} }`;
  }

  /** `[a, , b = 1]` is `{0: a, 2: b = 1}` of an array. */
  function pattern(node) {
    const { elements } = node;
    if (elements.some((e) => ts.isBindingElement(e) && e.dotDotDotToken !== undefined)) return undefined;
    if (!isArray(checker.getTypeAtLocation(node), checker)) return undefined;
    const named = elements.flatMap((e, i) => (ts.isOmittedExpression(e) ? [] : [`${i}: ${textOf(e)}`]));
    return `${file.text.slice(node.pos, node.getStart(file))}{ ${named.join(", ")} }`;
  }

  /** `[...a, b, ...c]` is `a.concat([b], c)`, which makes a list of its own size; what grows gets 16 places more. */
  function joined(node) {
    const { elements } = node;
    if (elements.length === 0 || !ts.isSpreadElement(elements[0]) || isAssigned(node)) return undefined;
    const isOther = (e) => !isArray(checker.getTypeAtLocation(e.expression), checker);
    if (elements.some((e) => ts.isOmittedExpression(e) || (ts.isSpreadElement(e) && isOther(e)))) return undefined;
    const [first, ...others] = elements;
    const start = file.text.slice(node.pos, node.getStart(file));
    const list = `${start}(${textOf(first.expression).trim()})`;
    if (others.length === 0) return `${list}.slice()`;
    const parts = [];
    for (const e of others) {
      if (ts.isSpreadElement(e)) parts.push(textOf(e.expression).trim());
      else if (parts.at(-1)?.single === true) parts.at(-1).texts.push(textOf(e).trim());
      else parts.push({ single: true, texts: [textOf(e).trim()] });
    }
    const texts = parts.map((part) => (typeof part === "string" ? part : `[${part.texts.join(", ")}]`));
    return `${list}.concat(${texts.join(", ")})`;
  }
}

/** Whether a list is what is assigned to, not a value. */
function isAssigned(node) {
  const { parent } = node;
  if (ts.isArrayLiteralExpression(parent) || ts.isSpreadElement(parent)) return isAssigned(parent);
  return ts.isBinaryExpression(parent) && parent.left === node;
}

/** Whether a value is an array whatever else it may be; what has no known type is none. */
function isArray(type, checker) {
  if (type.isUnion()) return type.types.every((t) => isArray(t, checker));
  if ((type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.Never)) !== 0) return false;
  return checker.isArrayLikeType(type);
}

/** What the builds of a process share: asking the compiler takes seconds. */
let all;

/** Reads the sources with plain loops; `then` may change the text of a path further. */
export function esbuildPlainLoops(then = (_path, text) => text) {
  return {
    name: "plain-loops",
    setup(b) {
      b.onLoad({ filter: /[\\/](?:src|rules)[\\/].*\.ts$/ }, ({ path }) => {
        all ??= plainLoops(["src/cli/main.ts", "src/index.ts"].map((entry) => join(root, entry)));
        return { contents: then(path, all.get(path) ?? readFileSync(path, "utf8")), loader: "ts" };
      });
    },
  };
}
