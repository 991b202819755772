import type { Plugin } from "esbuild";

interface Bundle {
  /** Source of its first module. */
  readonly contents: string;
  readonly plugin: Plugin;
}

export function latePart(options: {
  readonly entry: string;
  readonly modules: RegExp;
  readonly file: string;
  readonly root?: string;
}): { readonly bundle: Bundle; readonly inside: Bundle; readonly early: string[]; readonly late: string[] };
