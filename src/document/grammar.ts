/** What the wasm grammars share: one runtime of web-tree-sitter, a fuse against slow error recovery, the copy of the tree. */
import type { Node, ParseState, TreeCursor } from "web-tree-sitter";

/** The bytes of web-tree-sitter's runtime and of a grammar. */
export interface GrammarHost {
  readonly runtimeWasm: Uint8Array;
  readonly grammarWasm: Uint8Array;
}

/** A node of a copied tree; a leaf shares `NO_CHILDREN` with all others. */
interface Parent<N> {
  children: readonly N[];
}

export const NO_CHILDREN: readonly never[] = [];

const MAX_NODES = 2_000_000;
/**
 * A fuse: on a text of another language, a grammar's error recovery takes time that grows with the square of the length.
 * A script reads some 1000 characters in a millisecond; what has fallen below 50 after the first seconds is given up.
 */
const GRACE_MILLISECONDS = 1500;
const MIN_PROGRESS = 50;

/** The tree of a text, or why there is none: it takes too long, or has too many nodes. */
export type GrammarReader<N> = (text: string) => N | "slow" | "large";

/**
 * Loads a grammar; the runtime is shared by all grammars of the process. `read` makes a node of the one that the cursor
 * stands on. Rejects when the bytes are no such modules.
 */
export async function loadGrammar<N extends Parent<N>>(
  host: GrammarHost,
  read: (cursor: TreeCursor) => N,
): Promise<GrammarReader<N>> {
  const { Language, Parser } = await import("web-tree-sitter");
  await Parser.init({ wasmBinary: host.runtimeWasm });
  const parser = new Parser();
  parser.setLanguage(await Language.load(host.grammarWasm));
  return (text) => {
    const started = performance.now();
    const stop = ({ currentOffset }: ParseState): boolean =>
      performance.now() - started > GRACE_MILLISECONDS + currentOffset / MIN_PROGRESS;
    const tree = parser.parse(text, null, { progressCallback: stop });
    if (tree === null) {
      parser.reset();
      return "slow";
    }
    const root = copy(tree.rootNode, read);
    tree.delete();
    return root ?? "large";
  };
}

/** Copies a tree out of the wasm memory, without recursion; undefined: it has too many nodes. */
function copy<N extends Parent<N>>(node: Node, read: (cursor: TreeCursor) => N): N | undefined {
  const cursor = node.walk();
  const root = read(cursor);
  const stack = [root];
  let count = 1;
  let down = cursor.gotoFirstChild();
  while (down || stack.length > 1) {
    if (down) {
      const child = read(cursor);
      const parent = stack[stack.length - 1]!;
      if (parent.children === NO_CHILDREN) parent.children = [child];
      else (parent.children as N[]).push(child);
      stack.push(child);
      if (++count > MAX_NODES) {
        cursor.delete();
        return undefined;
      }
      if (cursor.gotoFirstChild()) continue;
    }
    stack.pop();
    if (cursor.gotoNextSibling()) down = true;
    else {
      down = false;
      if (stack.length > 0) cursor.gotoParent();
    }
  }
  cursor.delete();
  return root;
}
