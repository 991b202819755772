/** The shell parser for tests: the wasm modules from node_modules. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createShellParser, type ShellAst, type ShellParser, type Statement } from "../../src/document/shell.js";

const require = createRequire(import.meta.url);

export function wasm(name: "runtime" | "bash"): Uint8Array {
  const runtime = require.resolve("web-tree-sitter/web-tree-sitter.wasm");
  const grammar = join(dirname(require.resolve("tree-sitter-bash/package.json")), "tree-sitter-bash.wasm");
  return readFileSync(name === "runtime" ? runtime : grammar);
}

export function loadParser(): Promise<ShellParser> {
  return createShellParser({ runtimeWasm: wasm("runtime"), grammarWasm: wasm("bash") });
}

/** A compact one-line picture of statements, with the source text of everything that has a place checked on the way. */
export function picture(ast: ShellAst, text: string): string {
  return pictureOf(ast.body, text);
}

function pictureOf(value: unknown, text: string): string {
  if (Array.isArray(value)) return value.map((item) => pictureOf(item, text)).join("; ");
  const node = value as Statement;
  const extra = (node.redirects ?? []).map((r) => {
    const target =
      r.heredoc === undefined
        ? r.target === undefined
          ? ""
          : text.slice(r.target.start, r.target.end)
        : JSON.stringify(text.slice(r.heredoc.start, r.heredoc.end));
    return ` ${r.fd ?? ""}${r.op}${target}`;
  });
  const tail = extra.join("") + (node.background ? " &" : "");
  const block = (body: readonly Statement[]) => `{${pictureOf(body, text)}}`;
  switch (node.type) {
    case "command": {
      const assigns = (node.assigns ?? []).map(
        (a) => `${a.name}${a.append ? "+" : ""}=${text.slice(a.value.start, a.value.end)}`,
      );
      const words = node.words.map((w) => text.slice(w.start, w.end).replace(/\s+/g, "␣"));
      const script = node.script === undefined ? "" : ` «${node.script.kind} ${pictureOf(node.script.body, text)}»`;
      return [...assigns, ...words].join(" ") + script + tail;
    }
    case "pipeline":
      return (node.negated ? "! " : "") + node.commands.map((c) => pictureOf(c, text)).join(" | ") + tail;
    case "andor":
      return `(${node.items.map((item, i) => (i === 0 ? "" : ` ${node.ops[i - 1]} `) + pictureOf(item, text)).join("")})${tail}`;
    case "if":
      return (
        node.clauses.map((c, i) => `${i === 0 ? "if" : " elif"} ${block(c.test)} then ${block(c.body)}`).join("") +
        (node.otherwise === undefined ? "" : ` else ${block(node.otherwise)}`) +
        tail
      );
    case "loop":
      return `${node.until ? "until" : "while"} ${block(node.test)} ${block(node.body)}${tail}`;
    case "for":
      return `for ${node.name} in ${node.words?.map((w) => text.slice(w.start, w.end)).join(",") ?? node.arithmetic ?? "$@"} ${block(node.body)}${tail}`;
    case "case":
      return `case ${text.slice(node.word.start, node.word.end)} ${node.items
        .map((item) => `${item.patterns.map((p) => text.slice(p.start, p.end)).join("|")} ${block(item.body)}`)
        .join(" ")}${tail}`;
    case "function":
      return `fn ${node.name} ${pictureOf(node.body, text)}${tail}`;
    case "subshell":
      return `sub ${block(node.body)}${tail}`;
    case "group":
      return `group ${block(node.body)}${tail}`;
    case "arithmetic":
      return `((${node.text}))${tail}`;
    case "opaque":
      return `?${tail}`;
  }
}
