/**
 * A lexical pass over a script, before the grammar: it knows quoting, comments, expansions and command positions, no
 * statements. It finds here-documents, measures nesting, and makes a copy of equal length in which what the grammar reads
 * wrongly is masked: here-documents become plain input redirections, `<>` becomes `<`, the `!` before a pipeline becomes a
 * blank (the converter puts all three back, by their offsets), and escapes and rare characters of unquoted words become
 * letters (words are read from the text itself).
 */

export interface HeredocRange {
  readonly op: "<<" | "<<-";
  /** End of the delimiter word. */
  readonly operatorEnd: number;
  readonly delimiter: string;
  readonly quoted: boolean;
  readonly start: number;
  readonly end: number;
}

export interface ShellScan {
  readonly masked: string;
  /** By the offset of their `<<`. */
  readonly heredocs: ReadonlyMap<number, HeredocRange>;
  /** Offsets of `<>`. */
  readonly readWrite: ReadonlySet<number>;
  /** Offsets at which a negated pipeline starts, behind its `!`. */
  readonly negated: ReadonlySet<number>;
  readonly depth: number;
  /** The longest run of `|` without another separator. */
  readonly pipes: number;
}

type Context =
  | "parens"
  | "backtick"
  | "case"
  | "quotes"
  | "braces"
  | "quoted-braces"
  | "arithmetic"
  | "arithmetic-parens";

const KEYWORDS = new Set(["then", "do", "else", "elif", "if", "while", "until", "time"]);

function isBlank(c: string | undefined): boolean {
  return c === " " || c === "\t" || c === "\n" || c === "\r" || c === undefined;
}

function isWordEnd(c: string | undefined): boolean {
  return isBlank(c) || c === ";" || c === "&" || c === "|" || c === "(" || c === ")" || c === "<" || c === ">";
}

interface Pending {
  readonly at: number;
  readonly op: "<<" | "<<-";
  readonly operatorEnd: number;
  readonly delimiter: string;
  readonly quoted: boolean;
}

interface Walk {
  readonly heredocs: Map<number, HeredocRange>;
  readonly readWrite: Set<number>;
  readonly negated: Set<number>;
  depth: number;
  pipes: number;
  /** Where the walk stopped. */
  end: number;
  /** Replacements of equal length. */
  readonly masks: { readonly start: number; readonly text: string }[];
}

/**
 * Walks `text` from `from`. With `opened`, the walk is inside that context and stops behind the character that closes it;
 * `end` is -1 when nothing does.
 */
function walk(text: string, from: number, opened?: Context): Walk {
  const out: Walk = {
    heredocs: new Map(),
    readWrite: new Set(),
    negated: new Set(),
    depth: 0,
    pipes: 0,
    end: -1,
    masks: [],
  };
  const stack: Context[] = opened === undefined ? [] : [opened];
  const base = stack.length;
  const pending: Pending[] = [];
  const n = text.length;
  let i = from;
  let commandPosition = true;
  let pipes = 0;
  let inTest = false;

  const push = (context: Context): void => {
    stack.push(context);
    if (stack.length > out.depth) out.depth = stack.length;
  };
  const pop = (): boolean => {
    stack.pop();
    return base > 0 && stack.length === 0;
  };
  /** At a `$`. */
  const dollar = (quoted: boolean): void => {
    const next = text[i + 1];
    if (next === "(") {
      if (text[i + 2] === "(") {
        push("arithmetic");
        i += 3;
      } else {
        push("parens");
        commandPosition = true;
        i += 2;
      }
    } else if (next === "{") {
      push(quoted ? "quoted-braces" : "braces");
      i += 2;
    } else {
      i += next === "$" || next === "#" ? 2 : 1;
    }
  };
  const singleQuotes = (): void => {
    const close = text.indexOf("'", i + 1);
    i = close < 0 ? n : close + 1;
  };
  const backtick = (): boolean => {
    const open = stack.lastIndexOf("backtick");
    i++;
    if (open < 0) {
      push("backtick");
      commandPosition = true;
      return false;
    }
    stack.length = open + 1;
    return pop();
  };

  while (i < n) {
    const top = stack.length === 0 ? undefined : stack[stack.length - 1];
    const c = text[i]!;
    if (top === "quotes") {
      if (c === "\\") i += 2;
      else if (c === '"') {
        i++;
        if (pop()) {
          out.end = i;
          return out;
        }
      } else if (c === "$") dollar(true);
      else if (c === "`") {
        if (backtick()) {
          out.end = i;
          return out;
        }
      } else i++;
      continue;
    }
    if (top === "braces" || top === "quoted-braces") {
      if (c === "\\") i += 2;
      else if (c === "}") {
        i++;
        if (pop()) {
          out.end = i;
          return out;
        }
      } else if (c === "'" && top === "braces") singleQuotes();
      else if (c === '"') {
        push("quotes");
        i++;
      } else if (c === "$") dollar(top === "quoted-braces");
      else if (c === "`") {
        if (backtick()) {
          out.end = i;
          return out;
        }
      } else i++;
      continue;
    }
    if (top === "arithmetic" || top === "arithmetic-parens") {
      if (c === "(") {
        push("arithmetic-parens");
        i++;
      } else if (c === ")") {
        i += top === "arithmetic" && text[i + 1] === ")" ? 2 : 1;
        if (pop()) {
          out.end = i;
          return out;
        }
      } else if (c === '"') {
        push("quotes");
        i++;
      } else if (c === "$") dollar(false);
      else if (c === "\\") i += 2;
      else i++;
      continue;
    }

    // Command text: the top level, `(…)`, `$(…)`, backticks, `case`.
    switch (c) {
      case "\\":
        // A line continuation between words is a blank; inside a word it is nothing.
        if (i + 1 < n && (text[i + 1] !== "\n" || !(isWordEnd(text[i - 1]) || isWordEnd(text[i + 2]))))
          out.masks.push({ start: i, text: "xx" });
        if (text[i + 1] !== "\n") commandPosition = false;
        i += 2;
        continue;
      case "'":
        singleQuotes();
        commandPosition = false;
        continue;
      case '"':
        push("quotes");
        commandPosition = false;
        i++;
        continue;
      case "`":
        if (backtick()) {
          out.end = i;
          return out;
        }
        continue;
      case "$":
        commandPosition = false;
        if (text[i + 1] === "'") {
          i += 2;
          while (i < n && text[i] !== "'") i += text[i] === "\\" ? 2 : 1;
          i++;
        } else dollar(false);
        continue;
      case " ":
      case "\t":
      case "\r":
        i++;
        continue;
      case "\n":
        i++;
        commandPosition = true;
        pipes = 0;
        if (pending.length > 0) {
          for (const heredoc of pending) {
            const start = i;
            let end = n;
            let after = n;
            for (let line = i; line < n; ) {
              let stop = text.indexOf("\n", line);
              if (stop < 0) stop = n;
              let content = line;
              if (heredoc.op === "<<-") while (text[content] === "\t") content++;
              const last = text[stop - 1] === "\r" ? stop - 1 : stop;
              if (last - content === heredoc.delimiter.length && text.startsWith(heredoc.delimiter, content)) {
                end = line;
                after = Math.min(n, stop);
                break;
              }
              line = stop + 1;
            }
            out.heredocs.set(heredoc.at, {
              op: heredoc.op,
              operatorEnd: heredoc.operatorEnd,
              delimiter: heredoc.delimiter,
              quoted: heredoc.quoted,
              start,
              end,
            });
            i = after;
            // The terminator's own newline ends nothing.
            if (i < n && heredoc !== pending[pending.length - 1]) i++;
          }
          pending.length = 0;
        }
        continue;
      case "#":
        if (isWordEnd(i === from ? undefined : text[i - 1])) {
          const stop = text.indexOf("\n", i);
          i = stop < 0 ? n : stop;
        } else i++;
        continue;
      case ";":
        i++;
        commandPosition = true;
        pipes = 0;
        continue;
      case "&":
        commandPosition = text[i - 1] !== ">" && text[i - 1] !== "<" && text[i + 1] !== ">";
        if (text[i + 1] === "&") {
          pipes = 0;
          i++;
        }
        i++;
        continue;
      case "|":
        if (text[i + 1] === "|") {
          pipes = 0;
          i++;
        } else if (text[i - 1] !== ">" && ++pipes > out.pipes) out.pipes = pipes;
        i++;
        commandPosition = true;
        continue;
      case "(":
        if (text[i + 1] === "(" && commandPosition) {
          push("arithmetic");
          i += 2;
        } else {
          push("parens");
          commandPosition = true;
          i++;
        }
        continue;
      case ")":
        i++;
        commandPosition = true;
        if (top === "parens" && pop()) {
          out.end = i;
          return out;
        }
        continue;
      case "<": {
        if (text[i + 1] === ">") {
          out.readWrite.add(i);
          i += 2;
          continue;
        }
        if (text[i + 1] === "(") {
          push("parens");
          commandPosition = true;
          i += 2;
          continue;
        }
        if (text[i + 1] !== "<") {
          i++;
          continue;
        }
        if (text[i + 2] === "<") {
          i += 3;
          continue;
        }
        const at = i;
        const op = text[i + 2] === "-" ? "<<-" : "<<";
        i += op.length;
        while (text[i] === " " || text[i] === "\t") i++;
        let delimiter = "";
        let quoted = false;
        const word = i;
        while (i < n && !isWordEnd(text[i])) {
          const q = text[i]!;
          if (q === "'" || q === '"') {
            quoted = true;
            const close = text.indexOf(q, i + 1);
            const stop = close < 0 ? n : close;
            delimiter += text.slice(i + 1, stop);
            i = stop + 1;
          } else if (q === "\\") {
            quoted = true;
            delimiter += text[i + 1] ?? "";
            i += 2;
          } else {
            delimiter += q;
            i++;
          }
        }
        if (i > n) i = n;
        if (i > word && !delimiter.includes("\n")) pending.push({ at, op, operatorEnd: i, delimiter, quoted });
        continue;
      }
      case "{":
        commandPosition = commandPosition && isBlank(text[i + 1]);
        i++;
        continue;
      case "!":
        if (commandPosition && isBlank(text[i + 1])) {
          let next = i + 1;
          while (text[next] === " " || text[next] === "\t") next++;
          if (text[next] === "(" || !isWordEnd(text[next])) out.negated.add(next);
          i = next;
        } else {
          i++;
          commandPosition = false;
        }
        continue;
      default: {
        const wordStart = i;
        while (i < n && !isWordEnd(text[i]) && !"\\'\"`$".includes(text[i]!)) i++;
        if (i === wordStart) {
          i++;
          continue;
        }
        const run = text.slice(wordStart, i);
        if (run === "]]") inTest = false;
        else if (!inTest && /[\^@%?*~!\]]/.test(run) && run !== "]") {
          out.masks.push({
            start: wordStart,
            text: run.replace(run.includes("[") ? /[\^@%?*~!]/g : /[\^@%?*~!\]]/g, "x"),
          });
        }
        const alone = isWordEnd(text[i]);
        if (commandPosition) {
          const word = alone ? run : "";
          if (word === "[[") inTest = true;
          if (word === "case") {
            push("case");
            commandPosition = false;
          } else if (word === "esac" && top === "case") {
            pop();
            commandPosition = false;
          } else commandPosition = KEYWORDS.has(word);
        }
      }
    }
  }
  return out;
}

/** Scans a whole script. */
export function scanShell(text: string): ShellScan {
  const found = walk(text, 0);
  const { heredocs, readWrite, negated, masks } = found;
  let masked = text;
  if (heredocs.size + readWrite.size + negated.size + masks.length > 0) {
    const edits = [...masks];
    for (const [at, heredoc] of heredocs) {
      edits.push({ start: at, text: "<" + "x".repeat(heredoc.operatorEnd - at - 1) });
      const stop = text.indexOf("\n", heredoc.end);
      const end = heredoc.end >= text.length ? text.length : stop < 0 ? text.length : stop;
      if (end > heredoc.start)
        edits.push({ start: heredoc.start, text: text.slice(heredoc.start, end).replace(/[^\n]/g, " ") });
    }
    for (const at of readWrite) edits.push({ start: at, text: "< " });
    for (const at of negated) {
      let mark = at - 1;
      while (text[mark] !== "!") mark--;
      edits.push({ start: mark, text: " " });
    }
    edits.sort((a, b) => a.start - b.start);
    const pieces: string[] = [];
    let at = 0;
    for (const edit of edits) {
      if (edit.start < at) continue;
      pieces.push(text.slice(at, edit.start), edit.text);
      at = edit.start + edit.text.length;
    }
    pieces.push(text.slice(at));
    masked = pieces.join("");
  }
  return { masked, heredocs, readWrite, negated, depth: found.depth, pipes: found.pipes };
}

/** The offset behind the character that closes what was opened before `inside`; -1 when nothing closes it. */
export function closingOffset(
  text: string,
  inside: number,
  what: "parens" | "backtick" | "braces" | "arithmetic",
): number {
  return walk(text, inside, what).end;
}
