/** Commands behind a switch: a condition on a setting that only the cluster, or whoever calls the script, knows. */
import { guardsOf, type Invocation, isDead, somePart, type Test, type Text } from "../shell/index.js";
import { asObject } from "../value.js";
import type { Container } from "./workload.js";

/**
 * Whether it is open that a command ever runs: no call reaches it, a condition around it cannot hold, or it stands in one
 * branch of a choice by a variable (`if [ "$TLS_ENABLED" = yes ]`) that neither the script nor the manifest settles. The
 * name or address of the pod is no such variable: each value that it compares to is that of some pod.
 */
export function mayNotRun(invocation: Invocation, container: Container): boolean {
  return !invocation.reached || isDead(invocation) || isSwitched(invocation, container);
}

function isSwitched(invocation: Invocation, container: Container): boolean {
  const asks = (text: Text): boolean =>
    text.pieces.some(
      (piece) =>
        typeof piece !== "string" &&
        piece.kind === "variable" &&
        piece.options === undefined &&
        piece.name !== undefined &&
        !isOfThePod(piece.name, container),
    );
  const isOpen = (part: Test): boolean => {
    if (part.kind === "compare") return asks(part.left) || asks(part.right);
    if (part.kind === "empty") return asks(part.value);
    return part.kind === "arithmetic" && /[A-Za-z_]/.test(part.text);
  };
  return guardsOf(invocation).some((guard) => {
    if (guard.kind === "test") return somePart(guard.test, isOpen);
    if (guard.kind === "case") return asks(guard.subject);
    return guard.kind === "command" && guard.invocation.command.slice(1).some(asks);
  });
}

function isOfThePod(name: string, container: Container): boolean {
  if (name === "HOSTNAME") return true;
  const from = container.env.find((e) => e.name === name)?.spec["valueFrom"];
  return asObject(from)["fieldRef"] !== undefined;
}
