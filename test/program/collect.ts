/** Lua scripts of npm packages: `.lua` files, and texts in JavaScript that call Redis. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { type LuaDocument, parseLua } from "../../src/document/lua.js";
import { Source, TextView } from "../../src/text/source.js";
import { document, luaparse } from "./support.js";

export interface ForeignScript {
  readonly package: string;
  /** Path inside the package. */
  readonly file: string;
  readonly sha1: string;
  readonly text: string;
}

export const PACKAGES = [
  "@fastify/rate-limit",
  "@sesamecare-oss/redlock",
  "@upstash/ratelimit",
  "bull",
  "bullmq",
  "groupmq",
  "rate-limiter-flexible",
  "redis-semaphore",
];

/** `FOREIGN_MODULES`: another node_modules folder to read the packages from. */
const modules = process.env["FOREIGN_MODULES"] ?? fileURLToPath(new URL("../../node_modules", import.meta.url));

/** The scripts of the packages that are installed, distinct by content; one console line for each package that is absent. */
export function collect(): readonly ForeignScript[] {
  const found = new Map<string, ForeignScript>();
  for (const name of PACKAGES) {
    const root = join(modules, name);
    if (!existsSync(root)) {
      console.log(`foreign scripts: the package ${name} is not installed`);
      continue;
    }
    const add = (file: string, text: string): void => {
      const sha1 = createHash("sha1").update(text).digest("hex");
      if (!found.has(sha1)) found.set(sha1, { package: name, file: relative(root, file), sha1, text });
    };
    for (const file of files(root)) {
      if (file.endsWith(".lua")) add(file, readFileSync(file, "utf8"));
      else if (/\.[cm]?js$/.test(file)) {
        const text = readFileSync(file, "utf8");
        if (/redis\.p?call/.test(text)) for (const script of embedded(text)) add(file, script);
      }
    }
  }
  return [...found.values()];
}

function files(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return entry.name === "node_modules" || entry.name.startsWith(".") ? [] : files(path);
      return [path];
    });
}

/** Texts of the source that are Lua and call Redis, constants of the same file put in. */
function embedded(source: string): string[] {
  const file = ts.createSourceFile("x.js", source, ts.ScriptTarget.Latest, false, ts.ScriptKind.JS);
  const constants = new Map<string, string>();
  const out: string[] = [];
  const value = (node: ts.Node): string | undefined => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
    if (ts.isParenthesizedExpression(node)) return value(node.expression);
    if (ts.isIdentifier(node)) return constants.get(node.text);
    if (ts.isTemplateExpression(node)) {
      let text = node.head.text;
      for (const span of node.templateSpans) {
        const part = value(span.expression);
        if (part === undefined) return undefined;
        text += part + span.literal.text;
      }
      return text;
    }
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
      const left = value(node.left);
      const right = value(node.right);
      return left === undefined || right === undefined ? undefined : left + right;
    }
    return undefined;
  };
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined) {
      const text = value(node.initializer);
      if (text !== undefined) constants.set(node.name.text, text);
    }
    const text = ts.isExpression(node) && !ts.isIdentifier(node) ? value(node) : undefined;
    if (text !== undefined && /redis\.p?call\b/.test(text) && document(text).body !== undefined) {
      out.push(text);
      return;
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return out;
}

const parsed = new Map<string, LuaDocument | undefined>();

/** Finds the included files of a package's `.lua` file. */
export function includeOf(script: ForeignScript): (name: string, from: TextView) => LuaDocument | undefined {
  return (name, from) => {
    const path = join(modules, script.package, dirname(from.source.file), name.endsWith(".lua") ? name : `${name}.lua`);
    if (!parsed.has(path)) {
      const file = relative(join(modules, script.package), path);
      parsed.set(
        path,
        existsSync(path) ? parseLua(new TextView(new Source(file, readFileSync(path, "utf8"))), luaparse) : undefined,
      );
    }
    return parsed.get(path);
  };
}
