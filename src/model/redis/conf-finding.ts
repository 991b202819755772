import type { Span } from "../../text/source.js";

/**
 * What a server does with a line that is not simply right.
 *
 * - `fatal`: the server exits at start
 * - `restart`: it starts once, and not again after it has rewritten the file (Sentinel does at its first start)
 * - `silent`: it starts and reads something else than what is written
 * - `repeat`: an earlier line is silently overridden
 * - `useless`: accepted, without effect
 * - `runtime`: state that the server itself writes: a template must not ship it
 * - `deprecated`: accepted under an old name
 * - `note`: worth a word, no fault
 */
export type ConfClass = "fatal" | "restart" | "silent" | "repeat" | "useless" | "runtime" | "deprecated" | "note";

/** What it is about: rules pick by it. */
export type ConfTopic =
  | "syntax"
  | "directive"
  | "value"
  | "listen"
  | "tls"
  | "acl"
  | "include"
  | "module"
  | "replication"
  | "sentinel"
  | "hostname";

export type ConfCode =
  // syntax
  | "unbalanced-quotes"
  | "text-after-quote"
  | "nul"
  | "bom"
  | "trailing-comment"
  | "glued-lines"
  // directives
  | "unknown-directive"
  | "commented-out"
  | "arity"
  | "bad-value"
  | "repeated"
  | "no-op"
  | "old-name"
  | "literal-placeholder"
  | "misread-value"
  | "ignored-arguments"
  | "tiny-maxmemory"
  // include, modules, renames
  | "include-missing"
  | "include-glob"
  | "include-loop"
  | "module-option"
  | "module-missing"
  | "unknown-command"
  | "command-exists"
  // files
  | "file-missing"
  // listeners, TLS
  | "no-listener"
  | "same-port"
  | "bad-address"
  | "cluster-port"
  | "tls-incomplete"
  | "tls-no-ca"
  | "tls-protocols"
  | "tls-ciphers"
  | "tls-file"
  | "tls-unused"
  | "tls-half-pair"
  // ACL
  | "user-rule"
  | "acl-and-users"
  | "acl-file"
  | "open-default-user"
  | "password-ignored"
  // replication
  | "user-without-password"
  | "replica-in-cluster"
  | "replica-port"
  | "empty-announce"
  // Sentinel
  | "sentinel-in-data"
  | "data-in-sentinel"
  | "replica-in-sentinel"
  | "sentinel-option"
  | "sentinel-arity"
  | "sentinel-value"
  | "sentinel-misread"
  | "sentinel-unmonitored"
  | "sentinel-duplicate"
  | "sentinel-repeated"
  | "sentinel-hostname"
  | "sentinel-pinned-hostname"
  | "sentinel-announce-hostnames"
  | "sentinel-runtime"
  | "sentinel-script"
  | "sentinel-user-without-password"
  | "sentinel-word"
  // after a rewrite
  | "rewrite-unquoted"
  | "rewrite-changed"
  | "rewrite-include"
  | "rewrite-known-slave"
  | "rewrite-users";

export interface ConfFinding {
  readonly code: ConfCode;
  readonly class: ConfClass;
  readonly topic: ConfTopic;
  /** The directive in lower case, `sentinel monitor` for Sentinel's. */
  readonly directive: string;
  /** What the server does, in one sentence without a capital and without a full stop. */
  readonly message: string;
  /** The server's own error text, without the line that it quotes. */
  readonly server: string | undefined;
  /** Text that may stand at `at` instead, where one is certainly meant. */
  readonly right: string | undefined;
  readonly at: Span;
  /** The line that a server's message names; 0: no line of a file. */
  readonly line: number;
  readonly related: readonly { readonly at: Span; readonly message: string }[];
  /** false: true only if what is not known here (an include, a template's gap, a script) does not change it. */
  readonly certain: boolean;
}

/** No more findings are collected of one configuration: the server stops at the first fatal line anyway. */
export const MAX_FINDINGS = 1000;
