/** Mutators of shell texts: statements, options, and the values that tie a script to the rest of the contract. */
import { cutLine, linesOf, wordsOf } from "./lines.js";
import type { TextMutation } from "./text.js";

/** Lines that open, close or continue something: cutting one would only break the syntax. */
const STRUCTURE =
  /^(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|function|\{|\}|\)|\w+\s*\(\))(?:\s|$|;|\))|\\$|(?:\||&&|\|\||\$\()\s*$|;;\s*$|\b(?:then|do)$|<<-?/;

export function* shellMutations(text: string): Generator<TextMutation> {
  let continued = false;
  let number = 0;
  for (const line of linesOf(text)) {
    number++;
    const trimmed = line.text.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const whole = !continued && !STRUCTURE.test(trimmed) && !/^\)/.test(trimmed);
    continued = /\\$/.test(trimmed) || /\$\($/.test(trimmed);
    const label = `${number}: ${(trimmed.length > 40 ? `${trimmed.slice(0, 40)}…` : trimmed).replace(/\s+/g, " ")}`;
    // what is said to people is no part of what the script does
    if (whole && !/^(?:echo|printf)\b.*>&2$/.test(trimmed))
      yield { mutator: "remove-statement", field: label, newText: "", ...cutLine(text, line) };
    const words = wordsOf(line);
    for (const [i, word] of words.entries()) {
      const before = words[i - 1]?.text ?? "";
      const replace = (mutator: string, newText: string): TextMutation => ({
        mutator,
        field: `${label} › ${word.text.length > 40 ? `${word.text.slice(0, 40)}…` : word.text}`,
        start: word.start,
        end: word.end,
        newText,
      });
      // an address stands for itself, not for a name
      const host = /^[\d.]+$/.test(word.text) ? null : /^("?)([\w$-]+(?:\.[\w-]+){2,})("?)$/.exec(word.text);
      if (word.text === "--tls") {
        yield { ...replace("drop-option", ""), start: Math.max(line.start, word.start - 1) };
      } else if (before === "--user") yield replace("rename-user", `${word.text}-x`);
      else if (before === "-p" && /^\d+$/.test(word.text)) yield replace("other-port", String(Number(word.text) + 1));
      else if (before === "-h" && host === null) {
        if (/^[\w.-]+$/.test(word.text) && !word.text.startsWith("127.")) yield replace("other-host", "192.0.2.1");
      } else if (host !== null) yield replace("other-host", `${host[1]}x-${host[2]}${host[3]}`);
      else if (before === "exit" && /^\d+$/.test(word.text)) yield replace("flip-exit", word.text === "0" ? "1" : "0");
      else if (/^\/[\w./-]+$/.test(word.text) && word.text !== "/dev/null") {
        const slash = word.text.lastIndexOf("/");
        yield replace("other-path", `${word.text.slice(0, slash)}/other-${word.text.slice(slash + 1)}`);
      } else if (/^(?:=|!=)$/.test(word.text)) yield replace("flip-comparison", word.text === "=" ? "!=" : "=");
      else {
        const assigned = /^(\w+=)(\/[\w./-]+\/|[\w-]+\.)([\w.-]+)$/.exec(word.text);
        if (assigned !== null) yield replace("other-value", `${assigned[1]}${assigned[2]}other-${assigned[3]}`);
      }
    }
  }
}
