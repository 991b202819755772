/** Finding secret values in texts, without taking names, paths and placeholders for them. */
import { hasToken } from "./value.js";

export interface SecretHit {
  readonly kind: "private-key" | "certificate" | "password" | "token";
  /** What holds it: a directive, a variable, a key. */
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const PEM = /-----BEGIN ((?:[A-Z]+ )*?(?:PRIVATE KEY|CERTIFICATE))-----/g;
/** Directives of redis.conf and sentinel.conf whose operand is a secret. */
const CONF_SECRET =
  /^[ \t]*(requirepass|masterauth|tls-(?:client-)?key-file-pass|sentinel[ \t]+auth-pass[ \t]+\S+|sentinel[ \t]+sentinel-pass)[ \t]+(\S[^\r\n]*?)[ \t]*$/gim;
const TOKENS: readonly RegExp[] = [
  /\bgh[pousr]_[A-Za-z0-9]{36,}\b/g,
  /\bglpat-[A-Za-z0-9_-]{20,}\b/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}\b/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\b/g,
  /\bAIza[0-9A-Za-z_-]{35}\b/g,
];
/** What each of them begins with: nearly every text has none. */
const TOKEN_START = /gh[pousr]_|glpat-|AKIA|xox[abprs]-|eyJ|AIza/;
const URL_PASSWORD = /\b(?:rediss?|valkeys?|redis-sentinel):\/\/[^\s:@/"']*:([^\s@/"']+)@/g;

/** Names of variables and keys whose value is a secret; names of files, paths and references are not. */
export function isSecretName(name: string): boolean {
  const plain = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toUpperCase()
    .replace(/[.-]/g, "_");
  if (
    /(?:_|^)(?:FILE|PATH|DIR|NAME|REF|REFERENCE|KEY_NAME|SECRET_NAME|URL|HOST|PORT|LENGTH|TTL|ENABLED|VERSION|MODE|TYPE|USER|USERNAME)S?$/.test(
      plain,
    )
  )
    return false;
  return /(?:^|_)(?:PASSWORD|PASSWD|PASS|PASSPHRASE|SECRET|TOKEN|API_?KEY|PRIVATE_?KEY|REDISCLI_AUTH|MASTERAUTH|REQUIREPASS|CREDENTIALS?)(?:_\d+)?$/.test(
    plain,
  );
}

/** Values that stand for one that comes later. */
export function isPlaceholder(value: string): boolean {
  const text = value.trim().replace(/^(["'])(.*)\1$/, "$2");
  return (
    text === "" ||
    hasToken(text) ||
    /^\$[A-Za-z_]\w*$/.test(text) ||
    /^\$\(.*\)$/.test(text) ||
    /^`.*`$/.test(text) ||
    /^<[^<>]*>$/.test(text) ||
    /^(?:change[-_ ]?me|replace[-_ ]?me|your[-_ ].*|placeholder|redacted|example|x{3,}|\*{3,}|\.{3}|todo|none|null|true|false|yes|no)[-_\w]*$/i.test(
      text,
    )
  );
}

/** Secrets in any text: PEM blocks, tokens of known forms, passwords in Redis URLs. */
export function findSecrets(text: string): SecretHit[] {
  const out: SecretHit[] = [];
  for (const m of text.includes("-----BEGIN ") ? text.matchAll(PEM) : []) {
    const label = m[1]!;
    const closing = `-----END ${label}-----`;
    const end = text.indexOf(closing, m.index);
    // an empty block, or one around a placeholder, is a template
    const body = text.slice(m.index + m[0].length, end < 0 ? m.index + m[0].length + 200 : end);
    if (!/[A-Za-z0-9+/=]{40,}/.test(body.replace(/\\n/g, "\n"))) continue;
    const kind = label.endsWith("PRIVATE KEY") ? "private-key" : "certificate";
    out.push({ kind, name: label.toLowerCase(), start: m.index, end: m.index + m[0].length });
  }
  for (const pattern of TOKEN_START.test(text) ? TOKENS : []) {
    for (const m of text.matchAll(pattern))
      out.push({ kind: "token", name: "token", start: m.index, end: m.index + m[0].length });
  }
  for (const m of text.includes("://") ? text.matchAll(URL_PASSWORD) : []) {
    if (isPlaceholder(m[1]!)) continue;
    const start = m.index + m[0].length - 1 - m[1]!.length;
    out.push({ kind: "password", name: "URL", start, end: start + m[1]!.length });
  }
  return out;
}

/** Passwords in a redis.conf or sentinel.conf. */
export function findConfSecrets(text: string): SecretHit[] {
  const out: SecretHit[] = [];
  for (const m of text.matchAll(CONF_SECRET)) {
    const value = m[2]!;
    if (isPlaceholder(value)) continue;
    const start = m.index + m[0].lastIndexOf(value);
    out.push({
      kind: "password",
      name: m[1]!
        .replace(/[ \t]+/g, " ")
        .split(" ")
        .slice(0, 2)
        .join(" "),
      start,
      end: start + value.length,
    });
  }
  return out;
}

/** `${REDIS_PASSWORD:-hunter2}`, `${TOKEN=…}`: what holds where nobody sets the variable. */
const DEFAULT = /\$\{([A-Za-z_][A-Za-z0-9_]*):?[-=]([^{}$`\n]+)\}/g;

/** Literal secrets of a shell script: `REDIS_PASSWORD=hunter2`, `export TOKEN="…"`, `${TOKEN:-…}`. */
export function findShellSecrets(text: string): SecretHit[] {
  const out: SecretHit[] = [];
  const pattern =
    /(?:^|[\s;&|(])(?:export[ \t]+|readonly[ \t]+|local[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)=("[^"\n]*"|'[^'\n]*'|[^\s;&|)]+)/g;
  for (const m of text.matchAll(pattern)) {
    const [, name, value] = m as unknown as [string, string, string];
    const literal = value.replace(/^(["'])(.*)\1$/, "$2");
    if (
      !isSecretName(name) ||
      literal.includes("$") ||
      literal.includes("`") ||
      isPlaceholder(value) ||
      literal.startsWith("/")
    )
      continue;
    const start = m.index + m[0].length - value.length;
    out.push({ kind: "password", name, start, end: start + value.length });
  }
  for (const m of text.includes("${") ? text.matchAll(DEFAULT) : []) {
    const [whole, name, value] = m as unknown as [string, string, string];
    const literal = value.replace(/^(["'])(.*)\1$/, "$2");
    // what a script asks for to see whether there is one is no secret
    const asks = literal.length < 4 || /^(?:un(?:set|defined)|not[-_ ]?set|missing|empty|default)$/i.test(literal);
    if (!isSecretName(name) || isPlaceholder(literal) || literal.startsWith("/") || asks) continue;
    const start = m.index + whole.length - 1 - value.length;
    out.push({ kind: "password", name, start, end: start + value.length });
  }
  return out;
}
