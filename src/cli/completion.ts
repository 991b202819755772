/** `quorumlint completion`: scripts for bash, zsh and fish, made of the command tree; they start no process while one types. */
import { type CommandShape, flatten, type OptionShape, shapeOf } from "./command-tree.js";
import { commandTree } from "./commands.js";
import { print } from "./output.js";

type Shell = "bash" | "zsh" | "fish";

export async function completionCommand(shell: Shell): Promise<number> {
  await print(completionScript(shell));
  return 0;
}

/** The words that stand for a command's own name: `check` is what no command means. */
function completionScript(shell: Shell): string {
  const program = shapeOf(commandTree(() => async () => {}));
  const check = program.commands.find((c) => c.path[0] === "check")!;
  // without a command it is check: its options are offered as well
  const top: CommandShape = { ...program, options: [...program.options, ...check.options] };
  const all = [top, ...flatten(program).slice(1)];
  return shell === "fish" ? fish(all) : shell === "zsh" ? zsh(all) : bash(all);
}

const key = (command: CommandShape): string => command.path.join(" ");
const names = (commands: readonly CommandShape[]): readonly string[] => commands.map((c) => c.path.at(-1)!);
/** A word inside single quotes of a POSIX shell. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The part that bash and zsh share: which command the words before the cursor have reached. */
function walk(all: readonly CommandShape[], words: string, from: number, to: string): string {
  const valued = [...new Set(all.flatMap((c) => c.options.filter((o) => o.takesValue).flatMap((o) => o.flags)))].sort();
  const steps = all
    .filter((c) => c.path.length > 0)
    .map((c) => `      ${quote(`${c.path.slice(0, -1).join(" ")}:${c.path.at(-1)!}`)}) command=${quote(key(c))} ;;`);
  return `  local command='' word i
  for ((i = ${from}; i < ${to}; i++)); do
    word=\${${words}[i]}
    case "$word" in
      ${valued.join(" | ")}) ((i++)); continue ;;
    esac
    case "$command:$word" in
${steps.join("\n")}
    esac
  done
`;
}

/** `command:option) words` for every option whose value is one of some words. */
function valueCases(all: readonly CommandShape[], line: (words: readonly string[]) => string, files: string): string {
  const out: string[] = [];
  for (const command of all) {
    for (const option of command.options) {
      if (!option.takesValue) continue;
      const pattern = option.flags.map((flag) => quote(`${key(command)}:${flag}`)).join(" | ");
      out.push(`    ${pattern}) ${option.choices === undefined ? files : line(option.choices)}; return ;;`);
    }
  }
  return out.join("\n");
}

function bash(all: readonly CommandShape[]): string {
  const offer = (words: readonly string[]): string => `_quorumlint_offer ${quote(words.join(" "))}`;
  const cases = all.map((c) => {
    const options = c.options.flatMap((o) => o.flags);
    const words = [...names(c.commands), ...(c.argument?.choices ?? [])];
    const files = c.argument === undefined ? "" : c.argument.choices === undefined ? "; _quorumlint_files" : "";
    const top = c.path.length === 0 ? "; _quorumlint_files" : files;
    return `    ${quote(key(c))})
      if [[ $cur == -* ]]; then ${offer(options)}; else ${offer(words)}${top}; fi ;;`;
  });
  return `# bash completion for quorumlint:  source <(quorumlint completion bash)
_quorumlint_offer() {
  local word words
  IFS=' ' read -ra words <<< "$1"
  for word in "\${words[@]}"; do [[ $word == "$cur"* ]] && COMPREPLY+=("$word"); done
}
_quorumlint_files() {
  local file
  compopt -o filenames 2> /dev/null
  while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$cur")
}
_quorumlint() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  # bash splits --format=json at the sign
  if [[ $cur == '=' ]]; then cur=''; elif [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD - 2]}; fi
${walk(all, "COMP_WORDS", 1, "COMP_CWORD")}  case "$command:$prev" in
${valueCases(all, offer, "_quorumlint_files")}
  esac
  case "$command" in
${cases.join("\n")}
  esac
}
complete -F _quorumlint quorumlint
`;
}

function zsh(all: readonly CommandShape[]): string {
  const described = (items: readonly (readonly [string, string])[]): string =>
    items.map(([word, text]) => quote(text === "" ? word : `${word}:${text}`)).join(" ");
  const cases = all.map((c) => {
    const options = c.options.flatMap((o) => o.flags.map((flag) => [flag, o.description] as const));
    const words = [
      ...c.commands.map((s) => [s.path.at(-1)!, s.description] as const),
      ...(c.argument?.choices ?? []).map((word) => [word, ""] as const),
    ];
    const files = c.path.length === 0 || (c.argument !== undefined && c.argument.choices === undefined);
    return `    ${quote(key(c))})
      options=(${described(options)})
      items=(${described(words)})
      files=${files ? 1 : 0} ;;`;
  });
  return `#compdef quorumlint
# zsh completion for quorumlint:  quorumlint completion zsh > "\${fpath[1]}/_quorumlint"
_quorumlint() {
  emulate -L zsh
  local cur=$words[CURRENT] prev=$words[CURRENT-1] files=0
  local -a options items
${walk(all, "words", 2, "CURRENT")}  case "$command:$prev" in
${valueCases(all, (words) => `compadd -- ${words.map(quote).join(" ")}`, "_files")}
  esac
  case "$command" in
${cases.join("\n")}
  esac
  local ret=1
  if [[ $cur == -* ]]; then
    _describe option options && ret=0
  else
    ((\${#items})) && _describe command items && ret=0
    ((files)) && _files && ret=0
  fi
  return ret
}
if [[ $funcstack[1] == _quorumlint ]]; then _quorumlint "$@"; else compdef _quorumlint quorumlint; fi
`;
}

function fish(all: readonly CommandShape[]): string {
  const text = (value: string): string => `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const valued = [...new Set(all.flatMap((c) => c.options.filter((o) => o.takesValue).flatMap((o) => o.flags)))];
  const steps = all
    .filter((c) => c.path.length > 0)
    .map(
      (c) =>
        `      case ${text(`${c.path.slice(0, -1).join(" ")}:${c.path.at(-1)!}`)}\n        set command ${text(key(c))}`,
    );
  const lines: string[] = [];
  for (const c of all) {
    const at = `complete -c quorumlint -n ${text(`__quorumlint_at ${text(key(c)).replaceAll("'", '"')}`)}`;
    for (const sub of c.commands) lines.push(`${at} -a ${sub.path.at(-1)!} -d ${text(sub.description)}`);
    if (c.argument?.choices !== undefined) lines.push(`${at} -f -a ${text(c.argument.choices.join(" "))}`);
    for (const option of c.options) lines.push(`${at} ${fishOption(option, text)}`);
  }
  return `# fish completion for quorumlint:  quorumlint completion fish | source
function __quorumlint_at
  set -l command ''
  set -l skip 0
  for word in (commandline -opc)[2..-1]
    if test $skip = 1
      set skip 0
      continue
    end
    if contains -- $word ${valued.join(" ")}
      set skip 1
      continue
    end
    switch "$command:$word"
${steps.join("\n")}
    end
  end
  test "$command" = "$argv[1]"
end
${lines.join("\n")}
`;
}

function fishOption(option: OptionShape, text: (value: string) => string): string {
  const flags = option.flags.map((f) => (f.startsWith("--") ? `-l ${f.slice(2)}` : `-s ${f.slice(1)}`)).join(" ");
  const value = !option.takesValue
    ? ""
    : option.choices === undefined
      ? " -r"
      : ` -x -a ${text(option.choices.join(" "))}`;
  return `${flags}${value} -d ${text(option.description)}`;
}
