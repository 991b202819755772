import { AclWord, confUserLines, OPAQUE } from "../../document/redis-acl.js";
import { ConfLine, type ConfStatement, findPlaceholders } from "../../document/redis-conf.js";
import { type Segment, Source, TextView } from "../../text/source.js";
import { type AclLoad, loadLines, loadView, serverMessage, type UserLine } from "./acl.js";
import { isModuleRule } from "./acl-words.js";
import type { Loaded, Loading } from "./conf-load.js";
import type { ConfValues } from "./conf-values.js";

/** Who may log in, as far as the configuration says. */
export interface UserVerdict {
  /** `lines`: `user` lines of the configuration; `file`: the ACL file; `none`: only `default` and its `requirepass`. */
  readonly source: "lines" | "file" | "none";
  /** undefined: `none`, or an ACL file whose text is not known. */
  readonly load: AclLoad | undefined;
}

/** `user` lines, `aclfile`, and how `requirepass` goes with them. */
export function judgeUsers(loading: Loading, values: ConfValues): UserVerdict {
  const { input, users } = loading;
  const file = values.get("aclfile");
  const named = file.state === "known" && file.value !== "";
  const surely = named || (file.state === "unknown" && file.set);
  const statement = file.state === "absent" ? undefined : file.statement;
  const title = loading.dialect.title;
  if (surely && users.length > 0 && statement !== undefined) {
    const name = title.toLowerCase();
    loading.report(users[0]!, {
      code: "acl-and-users",
      class: "fatal",
      topic: "acl",
      message: "`user` lines and `aclfile` exclude each other",
      server: `Configuring ${title} with users defined in ${name}.conf and at the same setting an ACL file path is invalid.`,
      related: [{ at: statement.at, message: "the ACL file is named here" }],
    });
  }
  const server = input.mode === "sentinel" ? `${input.server}/sentinel` : input.server;
  const setting = values.get("acl-pubsub-default");
  const pubsubDefault =
    setting.state === "known" && setting.from !== "default"
      ? (setting.value as "allchannels" | "resetchannels")
      : undefined;
  const load = users.length > 0 ? judgeLines(loading, users, server, pubsubDefault) : undefined;
  judgePassword(loading, values);
  if (!named || statement === undefined) return { source: load === undefined ? "none" : "lines", load };

  const path = file.value;
  const fact = input.file?.(path);
  const at = file.args[0]?.at;
  if (fact?.exists === false) {
    loading.report(
      { statement },
      {
        code: "acl-file",
        class: "fatal",
        topic: "acl",
        message: `the ACL file \`${path}\` is not there`,
        server: `Aborting ${title} startup because of ACL errors: Error loading ACLs, opening file '${path}': No such file or directory`,
        at,
      },
    );
    return { source: "file", load: undefined };
  }
  if (fact?.text === undefined) return { source: "file", load: undefined };
  const read = loadView(new TextView(new Source(path, fact.text)), { server, pubsubDefault });
  if (!read.ok) {
    loading.report(
      { statement },
      {
        code: "acl-file",
        class: "fatal",
        topic: "acl",
        message: `the ACL file \`${path}\` does not load: ${read.errors[0]!.message}`,
        server: `Aborting ${title} startup because of ACL errors: ${serverMessage(read.errors, path)}`,
        at,
      },
    );
  } else if (values.isSet("requirepass") === true && read.users.get("default")?.implicit === true) {
    const password = values.get("requirepass");
    const line = password.state === "absent" ? undefined : password.statement;
    loading.report(
      { statement: line ?? statement },
      {
        code: "open-default-user",
        class: "silent",
        topic: "acl",
        message: `\`requirepass\` has no effect beside \`aclfile\`: the ACL file has no \`user default\` line, so everybody may log in without a password and do everything`,
        related: [{ at: statement.at, message: "the ACL file is named here" }],
      },
    );
  }
  return { source: "file", load: read };
}

function judgeLines(
  loading: Loading,
  users: readonly Loaded[],
  server: string,
  pubsubDefault: "allchannels" | "resetchannels" | undefined,
): AclLoad {
  const lenient = loading.dialect.valkey91;
  const lines: UserLine[] = users.map(({ statement }, i) => ({ line: i, words: wordsOf(statement, lenient) }));
  const load = loadLines(lines, viewOf(users[0]!.statement), { server, origin: "conf", pubsubDefault });
  if (!load.ok) {
    for (const error of load.errors) {
      const user = users[error.line]!;
      const comment =
        error.fault === "EBADMSG" && user.args.some((a) => a.value.startsWith("#") && a.value.length < 65);
      loading.report(user, {
        code: comment ? "trailing-comment" : "user-rule",
        class: "fatal",
        topic: "acl",
        message: comment
          ? "`#` starts a comment only at the start of a line: here it is read as the hash of a password"
          : error.message,
        server: error.message,
        at: error.at,
        // modules are loaded before users
        certain: error.fault !== "ENOENT" || !mayBeModule(loading, error.at.source.slice(error.at)),
      });
    }
  }
  judgeIncluded(loading, users);
  return load;
}

/** A module that is loaded, or may be by something unknown, can know a name that the server does not. */
function mayBeModule(loading: Loading, rule: string): boolean {
  return loading.modules || (!loading.closed && isModuleRule(rule));
}

/** A rewrite puts every user into the main file; those of an include then stand in both. */
function judgeIncluded(loading: Loading, users: readonly Loaded[]): void {
  if (!loading.dialect.v7 || !loading.sentinelMode || loading.loads === false) return;
  for (const user of users) {
    if (!user.included) continue;
    loading.report(user, {
      code: "rewrite-users",
      class: "restart",
      topic: "include",
      message:
        "this `user` stands in an included file: the Sentinel writes it into its main file as well, and does not start again",
      server: "Duplicate user found. A user can only be defined once in config files",
    });
  }
}

/** `user default` of the configuration replaces what `requirepass` sets, whatever their order. */
function judgePassword(loading: Loading, values: ConfValues): void {
  const password = values.get("requirepass");
  if (password.state === "absent" || password.statement === undefined || values.isSet("requirepass") !== true) return;
  const own = loading.users.find((u) => u.args[0]?.value === "default");
  if (own === undefined) return;
  loading.report(
    { statement: password.statement },
    {
      code: "password-ignored",
      class: "useless",
      topic: "acl",
      message: "`requirepass` has no effect: the `user default` line replaces it, whichever stands first",
      related: [{ at: own.statement.at, message: "replaces it" }],
    },
  );
}

/** The words of a `user` line as the ACL reader takes them. */
function wordsOf(statement: ConfStatement, lenient: boolean): readonly AclWord[] {
  if (statement instanceof ConfLine) {
    for (const line of confUserLines(statement.view, { placeholders: statement.templates, lenient }))
      return [...line.words()];
  }
  const view = viewOf(statement);
  const words = [new AclWord(view, 0, statement.name.length, statement.name)];
  let p = statement.name.length;
  for (const arg of statement.args) {
    p++;
    words.push(
      new AclWord(view, p, p + arg.value.length, arg.value, arg.placeholder === "none" ? undefined : mask(arg.value)),
    );
    p += arg.value.length;
  }
  return words;
}

/** The text of a statement with each word at its place. */
function viewOf(statement: ConfStatement): TextView {
  if (statement instanceof ConfLine) return statement.view;
  const { source } = statement.nameAt;
  const segments: Segment[] = [];
  let p = 0;
  for (const { value, at } of [{ value: statement.name, at: statement.nameAt }, ...statement.args]) {
    if (at.source === source)
      segments.push({ inner: p, length: value.length, outer: at.start, outerLength: at.end - at.start });
    p += value.length + 1;
  }
  return new TextView(source, [statement.name, ...statement.args.map((a) => a.value)].join(" "), segments);
}

function mask(text: string): string {
  let out = "";
  let p = 0;
  for (const { start, end } of findPlaceholders(text)) {
    out += text.slice(p, start) + OPAQUE.repeat(end - start);
    p = end;
  }
  return p === 0 ? OPAQUE.repeat(text.length) : out + text.slice(p);
}
