/** What the kubelet does to texts of a manifest before a process sees them. */
import type { Piece } from "./text.js";

/**
 * `$(NAME)` in a value of `env`, or in an argument, with what stands for it; `$$(NAME)` is the text `$(NAME)`.
 * https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/
 */
export function expandReferences(text: string, piece: (name: string, written: string) => Piece): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of text.matchAll(/\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)/g)) {
    const name = match[1];
    pieces.push(text.slice(at, match.index), name === undefined ? "$" : piece(name, match[0]));
    at = match.index + match[0].length;
  }
  pieces.push(text.slice(at));
  return pieces;
}
