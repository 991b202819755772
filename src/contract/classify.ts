/** What a file is, by its name and a look at its text. */
import { textKind } from "../model/build.js";
import type { FileKind } from "../model/input.js";

/** Names that are worth reading when contracts are inferred. */
export function isCandidate(path: string): boolean {
  const base = path.slice(path.lastIndexOf("/") + 1);
  return (
    /\.(ya?ml|json|conf|cfg|acl|lua|sh|properties)(\.(tmpl|tpl|template|j2|in))?$/i.test(base) ||
    /^(redis|sentinel|valkey)[\w.-]*(\.conf)?(\.(tmpl|tpl|template|j2|in))?$/i.test(base)
  );
}

export function classify(path: string, text: string): FileKind {
  const base = path.slice(path.lastIndexOf("/") + 1).replace(/\.(tmpl|tpl|template|j2|in)$/i, "");
  const extension = base.slice(base.lastIndexOf(".") + 1).toLowerCase();
  switch (extension) {
    case "yaml":
    case "yml":
      return looksLikeManifest(text) ? "kubernetes" : "yaml";
    case "json":
      return /"apiVersion"\s*:/.test(text) && /"kind"\s*:/.test(text) ? "kubernetes" : "json";
    case "lua":
      return "lua";
    case "properties":
      return "properties";
    case "java":
      return "java";
    case "ts":
    case "mts":
    case "cts":
    case "tsx":
    case "js":
    case "mjs":
    case "cjs":
    case "jsx":
      return "typescript";
    case "md":
      return "markdown";
    case "env":
      return "env";
  }
  const kind = textKind(path, text);
  if (kind === "data" || kind === "sentinel") return "conf";
  if (kind === "acl") return "acl";
  if (kind === "shell") return "shell";
  return "text";
}

/** A key at the beginning of a line, of an item, or of a mapping in braces. */
const hasKey = (key: string): RegExp =>
  new RegExp(`(?:^[ \\t]*(?:-[ \\t]+)?|[{,][ \\t]*)["']?${key}["']?[ \\t]*:`, "m");

export function looksLikeManifest(text: string): boolean {
  return hasKey("kind").test(text) && hasKey("apiVersion").test(text);
}

/** Helm or Go template text: it is no YAML before it is rendered. */
export function isTemplateSource(text: string): boolean {
  if (!text.includes("{{")) return false;
  return (
    /^[ \t]*\{\{/m.test(text) ||
    /^[ \t]*[\w.-]+:[ \t]*(?:.*[^"'\w$])?\{\{-?[ \t]*(?:\.|include|template|if|with|range|tpl|toYaml|\$)/m.test(text)
  );
}
