/**
 * A part of a bundle that is read when one of its functions is first called. Most deployments have no programs, and what
 * analyses programs is a quarter of what a check would read at every start.
 *
 * A module of the part is a door to everybody else: each of its functions reads the part and calls what stands in it. Only
 * functions go through: a module whose class or constant is used outside cannot be late. What the part itself uses of the
 * modules outside is handed in when it is read: there is one of each, whoever uses it.
 */
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import ts from "typescript";

/** What a source says of itself: names of its exported functions and variables, imports of values by absolute path. */
function outline(file) {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const functions = [];
  const variables = [];
  const imports = new Map();
  const add = (specifier, names) => {
    if (!/^\.\.?\/.*\.js$/.test(specifier)) return;
    const from = resolve(dirname(file), specifier.replace(/js$/, "ts"));
    imports.set(from, [...(imports.get(from) ?? []), ...names]);
  };
  const visit = (node) => {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0].text, ["*"]);
    ts.forEachChild(node, visit);
  };
  for (const node of source.statements) {
    const exported = node.modifiers?.some((m) => m.kind === ts.SyntaxKind.ExportKeyword) === true;
    if (exported && ts.isFunctionDeclaration(node)) functions.push(node.name.text);
    if (exported && ts.isVariableStatement(node) && (node.declarationList.flags & ts.NodeFlags.Const) === 0)
      variables.push(...node.declarationList.declarations.map((d) => d.name.text));
    if (ts.isImportDeclaration(node) && node.importClause?.isTypeOnly !== true) {
      const { name, namedBindings } = node.importClause ?? {};
      const names = name === undefined ? [] : ["default"];
      if (namedBindings !== undefined && ts.isNamespaceImport(namedBindings)) names.push("*");
      else
        for (const e of namedBindings?.elements ?? []) if (!e.isTypeOnly) names.push((e.propertyName ?? e.name).text);
      add(node.moduleSpecifier.text, names);
    } else if (ts.isExportDeclaration(node) && !node.isTypeOnly && node.moduleSpecifier !== undefined) {
      const { exportClause } = node;
      if (exportClause === undefined) add(node.moduleSpecifier.text, ["*"]);
      else for (const e of exportClause.elements) if (!e.isTypeOnly) add(node.moduleSpecifier.text, [e.name.text]);
    } else visit(node);
  }
  return { functions, variables, imports };
}

/**
 * `entry`: path of the bundle's first module; `modules`: pattern of the paths that are late, as is what only they import;
 * `file`: name of the part. Gives the contents of the entry and a plugin for the bundle and for what is inside the part, and
 * the modules of both. Throws where something else than a function of a late module is used, and where a late module uses what
 * cannot be handed in: a variable that changes, or all of a module.
 */
export function latePart({ entry, modules, file, root = join(import.meta.dirname, "../..") }) {
  const nameOf = (path) => relative(root, path).replaceAll("\\", "/");
  const outlines = new Map();
  const outlineOf = (path) => outlines.get(path) ?? outlines.set(path, outline(path)).get(path);
  const isLate = (path) => modules.test(nameOf(path));

  const first = join(root, entry);
  const early = new Set([first]);
  const doors = new Set();
  for (const path of early) {
    for (const [to, names] of outlineOf(path).imports) {
      (isLate(to) ? doors : early).add(to);
      const other = isLate(to) ? names.find((name) => !outlineOf(to).functions.includes(name)) : undefined;
      if (other !== undefined)
        throw new Error(
          `${nameOf(path)} uses ${other} of ${nameOf(to)}, which is late: only its functions can be used`,
        );
    }
  }
  /** What the part uses of each module outside. */
  const used = new Map();
  const late = new Set(doors);
  for (const path of late) {
    for (const [to, names] of outlineOf(path).imports) {
      if (!early.has(to)) late.add(to);
      else used.set(to, new Set([...(used.get(to) ?? []), ...names]));
    }
  }
  for (const [path, names] of used) {
    const open = outlineOf(path).variables.find((name) => names.has(name));
    if (names.has("*") || open !== undefined)
      throw new Error(`${nameOf(path)}: a late module uses ${open ?? "all"} of it, which cannot be handed in`);
  }

  const text = (namespace, contents) => (b) => {
    b.onResolve({ filter: new RegExp(`^${namespace}$`) }, () => ({ path: namespace, namespace }));
    b.onLoad({ filter: /.*/, namespace }, () => ({ contents, resolveDir: root, loader: "js" }));
  };
  const relatives = (b, to) =>
    b.onResolve({ filter: /^\.\.?\/.*\.js$/ }, (args) => {
      const path = resolve(dirname(args.importer), args.path.replace(/js$/, "ts"));
      return args.namespace === "file" && args.kind !== "dynamic-import" ? to(path) : undefined;
    });

  const handed = [...used].map(([path, names], i) => ({
    path,
    names: [...names].map((name, j) => [name, `_${i}_${j}`]),
  }));
  const bundle = {
    contents: `export * from "./${entry}"; import "late-inside";`,
    plugin: {
      name: "late-doors",
      setup(b) {
        relatives(b, (path) => (doors.has(path) ? { path, namespace: "late-door" } : undefined));
        b.onLoad({ filter: /.*/, namespace: "late-door" }, ({ path }) => ({
          contents: `import { part } from "late-part";\n${outlineOf(path)
            .functions.map(
              (name) => `export function ${name}(...args) { return part.read()["${nameOf(path)}"].${name}(...args); }`,
            )
            .join("\n")}`,
          resolveDir: root,
        }));
        text("late-part", "export const part = {};")(b);
        b.onResolve({ filter: new RegExp(`^\\./${file}$`) }, () => ({ path: `./${file}`, external: true }));
        // last of all: by then everything that is handed in is made
        text(
          "late-inside",
          `import { part } from "late-part";
           ${handed.map(({ path, names }) => `import { ${names.map(([name, as]) => `${name} as ${as}`)} } from "./${nameOf(path)}";`).join("\n")}
           let read;
           part.read = () => (read ??= require("./${file}")({
             ${handed.map(({ path, names }) => `"${nameOf(path)}": { __esModule: true, ${names.map(([name, as]) => `${name}: ${as}`)} }`)}
           }));`,
        )(b);
      },
    },
  };
  const inside = {
    contents: `module.exports = (outside) => { require("late-outside").of = outside; return require("late-modules"); };`,
    plugin: {
      name: "late-inside",
      setup(b) {
        relatives(b, (path) => (used.has(path) ? { path, namespace: "outside" } : undefined));
        b.onLoad({ filter: /.*/, namespace: "outside" }, ({ path }) => ({
          contents: `module.exports = require("late-outside").of["${nameOf(path)}"];`,
          resolveDir: root,
        }));
        text("late-outside", "exports.of = undefined;")(b);
        text(
          "late-modules",
          [...doors].map((path) => `exports["${nameOf(path)}"] = require("./${nameOf(path)}");`).join("\n"),
        )(b);
      },
    },
  };
  return { bundle, inside, early: [...early].map(nameOf), late: [...late].map(nameOf) };
}
