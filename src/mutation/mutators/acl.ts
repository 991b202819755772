/** Mutators of ACL files: users, and each word of their rules. */
import { copyLine, cutLine, type Line, linesOf, type Word } from "./lines.js";
import type { TextMutation } from "./text.js";

export function* aclMutations(text: string): Generator<TextMutation> {
  for (const line of linesOf(text)) {
    const m = /^\s*user\s+(\S+)/.exec(line.text);
    if (m !== null) yield* aclLineMutations(text, line, m[1]!);
  }
}

/** One `user NAME rule …` line, in an ACL file or a configuration. */
export function* aclLineMutations(text: string, line: Line, user: string): Generator<TextMutation> {
  const field = `user ${user}`;
  yield { mutator: "remove-user", field, newText: "", ...cutLine(text, line) };
  yield { mutator: "duplicate-user", field, ...copyLine(line) };
  const words: Word[] = [];
  for (const m of line.text.matchAll(/\S+/g))
    words.push({ text: m[0], start: line.start + m.index, end: line.start + m.index + m[0].length });
  const name = words[1];
  if (name === undefined) return;
  if (user !== "default") yield { mutator: "rename-user", field, start: name.end, end: name.end, newText: "-x" };
  const end = words.at(-1)!.end;
  for (const [i, word] of words.entries()) {
    if (i < 2) continue;
    const at = `${field}: ${word.text}`;
    yield { mutator: "remove-token", field: at, start: words[i - 1]!.end, end: word.end, newText: "" };
    for (const [mutator, newText] of tokenChanges(word.text))
      yield { mutator, field: at, start: word.start, end: word.end, newText };
    // rules are applied from left to right
    if (i < words.length - 1 && /^(?:[-+]@?all|allcommands|nocommands|reset\w*|allkeys|allchannels)$/.test(word.text))
      yield {
        mutator: "move-token",
        field: at,
        start: word.start,
        end,
        newText: `${text.slice(words[i + 1]!.start, end)} ${word.text}`,
      };
  }
}

function* tokenChanges(token: string): Generator<[mutator: string, newText: string]> {
  switch (token) {
    case "on":
      yield ["flip-state", "off"];
      return;
    case "off":
      yield ["flip-state", "on"];
      return;
    case "resetkeys":
      yield ["widen-keys", "allkeys"];
      return;
    case "resetchannels":
      yield ["widen-channels", "allchannels"];
      return;
    case "resetpass":
    case "nopass":
      return;
    case "-@all":
    case "nocommands":
      yield ["widen-commands", "+@all"];
      return;
  }
  const rest = token.slice(1);
  switch (token[0]) {
    case ">":
    case "#":
    case "<":
    case "!":
      yield ["drop-password", "nopass"];
      if (token[0] === ">") yield ["plain-secret", ">correct-horse-7Q"];
      return;
    case "+":
      yield ["deny-command", `-${rest}`];
      if (!rest.startsWith("@")) {
        yield ["widen-commands", rest.includes("|") ? `+${rest.slice(0, rest.indexOf("|"))}` : "+@all"];
        yield ["rename-command", `+${rest}x`];
      }
      return;
    case "-":
      yield ["allow-command", `+${rest}`];
      return;
    case "~":
      if (token !== "~*") yield ["widen-keys", "~*"];
      yield ["other-pattern", `~other:${rest}`];
      if (token !== "~*") yield ["read-only-keys", `%R~${rest}`];
      return;
    case "%":
      yield ["widen-keys", "~*"];
      return;
    case "&":
      if (token !== "&*") yield ["widen-channels", "&*"];
      yield ["other-pattern", `&other:${rest}`];
      return;
  }
}
