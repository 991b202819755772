import { type ConfArgument, type ConfDocument, type ConfStatement, parseConf } from "../../document/redis-conf.js";
import type { Span, TextView } from "../../text/source.js";
import type { UserVerdict } from "./conf-acl.js";
import type { ConfFinding } from "./conf-finding.js";
import { Loading } from "./conf-load.js";
import type { ConfValues } from "./conf-values.js";
import type { SentinelFacts } from "./sentinel-conf.js";

export type { ConfFinding } from "./conf-finding.js";
export type { ConfValues } from "./conf-values.js";
export type { SentinelFacts, SentinelMaster } from "./sentinel-conf.js";

/**
 * What a server makes of its configuration: a simulation of its start over the lines of its file, of the files that it
 * includes, of what scripts do to the file, and of its command line.
 */

export interface FileFact {
  readonly exists: boolean;
  readonly text?: string | undefined;
  readonly executable?: boolean | undefined;
  /** Of a certificate or a key: equal for the two that belong together. */
  readonly pair?: string | undefined;
}

/** What a script does to the file before the server reads it. Applied in order. */
export type ConfEdit = (
  | {
      /** `echo … >>`, a heredoc: lines at the end. */
      readonly kind: "append";
      readonly statements: readonly ConfStatement[];
    }
  | {
      /** A `sed` that puts lines in the place of others; undefined: this one stays as it is. */
      readonly kind: "lines";
      readonly rewrite: (line: string) => readonly ConfStatement[] | undefined;
    }
  | {
      /** `sed 's/%MASTER%/$IP/g'`: a text inside the words becomes another; without `value` it is not known which. */
      readonly kind: "substitute";
      readonly find: string;
      readonly value?: string | undefined;
    }
  | {
      /** An edit that is not understood, or understood to touch just `directives`: what is absent becomes unknown. */
      readonly kind: "unknown";
      readonly directives?: readonly string[] | undefined;
    }
) & {
  readonly at: Span;
  /** Inside an `if`: it may not happen. */
  readonly conditional?: boolean | undefined;
};

export interface ConfInput {
  /** `redis-7.2`, `valkey-8.1` …: a server whose directive table ships. */
  readonly server: string;
  readonly mode: "data" | "sentinel";
  /** The main file; several texts where it is put together from several (`cat a b > c`). */
  readonly documents: ConfDocument | readonly ConfDocument[];
  readonly edits?: readonly ConfEdit[] | undefined;
  /** The words after the server's name on its command line. */
  readonly arguments?: readonly ConfArgument[] | undefined;
  /** The files of an `include`, in the order of their names (a glob may match none); undefined: not known. */
  readonly include?: ((path: string) => readonly ConfDocument[] | undefined) | undefined;
  /** What is known of a file that the configuration names; undefined: nothing. */
  readonly file?: ((path: string) => FileFact | undefined) | undefined;
}

export interface ConfLoad {
  /** Whether the server starts. "unknown": it depends on something that is not known here. */
  readonly loads: boolean | "unknown";
  /** Whether it starts again after it has rewritten its file (only Sentinel does so by itself). */
  readonly restarts: boolean | "unknown";
  readonly findings: readonly ConfFinding[];
  readonly values: ConfValues;
  /** undefined for a data server. */
  readonly sentinel: SentinelFacts | undefined;
  /** What `user` lines and the ACL file give, as far as their text is known. */
  readonly users: UserVerdict;
}

/** Runs the whole: see ConfLoad. Never throws on any text; linear in its length. */
export function loadConf(input: ConfInput): ConfLoad {
  return new Loading(input).run();
}

/** One file as it stands, without scripts and command line. */
export function judgeConf(
  document: ConfDocument,
  options: Omit<ConfInput, "documents">,
): { loads: boolean | "unknown"; restarts: boolean | "unknown"; findings: readonly ConfFinding[] } {
  const { loads, restarts, findings } = loadConf({ ...options, documents: document });
  return { loads, restarts, findings };
}

/** The edits that a text written by a script stands for: its lines, and what is not known where it has gaps. */
export function editsOfText(view: TextView, at: Span, options: { conditional?: boolean } = {}): readonly ConfEdit[] {
  const { lines, gaps } = parseConf(view, { templates: true });
  const edits: ConfEdit[] = [{ kind: "append", statements: lines, at, conditional: options.conditional }];
  if (gaps.length > 0) edits.push({ kind: "unknown", at: gaps[0]!.at });
  return edits;
}
