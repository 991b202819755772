// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of templates
import { describe, expect, it } from "vitest";
import { type AclLoad, type AclUser, checkScript, dryRun, load } from "../../src/model/redis/acl.js";
import type { Span } from "../../src/text/source.js";

const template = (text: string, server = "7.2"): AclLoad => load(text, { server, placeholders: true });
function only(text: string): AclUser {
  const result = template(text);
  if (!result.ok) throw new Error(result.errors.map((e) => e.message).join("\n"));
  return [...result.users.values()][0]!;
}
const shown = (span: Span): string => span.source.slice(span);

describe("placeholders", () => {
  it.each([
    "${APP_PASSWORD}",
    "${APP_PASSWORD:-a b}",
    "$APP_PASSWORD",
    "$(cat /run/secret x)",
    "{{ .Values.password }}",
    '{{ .Values.password | default "x y" }}',
    "{{password}}",
    "__APP_PASSWORD__",
    "@APP_PASSWORD@",
    "%APP_PASSWORD%",
    "<app password>",
    "x-${A}-y",
  ])("are one password: %s", (value) => {
    const user = only(`user app on >${value} ~app:* +get`);
    expect(user.passwords.map((p) => [p.placeholder, p.empty, shown(p.at), shown(p.valueAt)])).toEqual([
      [true, false, `>${value}`, value],
    ]);
    expect(user.certain).toBe(true);
    expect(user.may("get")).toBe(true);
    expect(user.can("set")).toBe("no");
    expect(user.authenticates("x")).toBe("unknown");
  });

  it("are hashes without their form", () => {
    const user = only("user app on #${HASH} #<sha256 of the password> +get");
    expect(user.passwords.map((p) => [p.kind, p.placeholder])).toEqual([
      ["hash", true],
      ["hash", true],
    ]);
    expect(template("user app on #CHANGE_ME").ok).toBe(false);
  });

  it("do not take the rules of ACLs for placeholders", () => {
    const user = only("user app on nopass %R~in:* %RW~x:* %W~out:* &__sentinel__:hello +@read >p@ss");
    expect(user.root.keys.map((k) => [k.text, k.placeholder])).toEqual([
      ["in:*", false],
      ["x:*", false],
      ["out:*", false],
    ]);
    expect(user.mayChannel("__sentinel__:hello")).toBe("yes");
    expect(user.passwords[0]!.placeholder).toBe(false);
    expect(user.certain).toBe(true);
  });

  it("are literal without the option", () => {
    const literal = load("user app on >${PASSWORD} ~app:* +@read", { server: "7.2" });
    expect(literal.ok && literal.users.get("app")!.passwords[0]!.placeholder).toBe(false);
    expect(load("user app on >{{ .Values.password }} +@all", { server: "7.2" }).ok).toBe(false);
  });

  it("in key patterns are opaque literals", () => {
    const user = only("user app on nopass ~${PREFIX}:* %R~{{ .Values.shared }}* ~cfg:__ENV__ +get +set");
    expect(user.root.keys.map((k) => [k.text, k.placeholder])).toEqual([
      ["${PREFIX}:*", true],
      ["{{ .Values.shared }}*", true],
      ["cfg:__ENV__", true],
    ]);
    expect(user.mayKey("${PREFIX}:1", "RW")).toBe("yes");
    expect(user.mayKey("app:1", "RW")).toBe("unknown");
    expect(user.covers("${PREFIX}:a:*", "RW")).toBe("yes");
    expect(user.covers("app:*", "RW")).toBe("unknown");
    expect(user.covers("cfg:*", "R")).toBe("unknown");
    expect(only("user app on nopass ~${A}:x +get").covers("y", "R")).toBe("no");
    expect(dryRun(user, ["GET", "app:1"])).toMatchObject({ allowed: false, unknown: true });
    expect(dryRun(user, ["DEL", "app:1"])).toMatchObject({ allowed: false, denied: "command" });
    expect(dryRun(user, ["DEL", "app:1"]).unknown).toBeUndefined();
  });

  it("that stand for rules make the rest unknown, never absent", () => {
    const user = only("user app on nopass ~app:* +get ${EXTRA_RULES} -set");
    expect(user.unknown.map((w) => shown(w.at))).toEqual(["${EXTRA_RULES}"]);
    expect(user.certain).toBe(false);
    expect(user.can("get")).toBe("unknown");
    expect(user.can("set")).toBe("unknown");
    expect(user.can("del")).toBe("unknown");
    expect(user.mayKey("other", "R")).toBe("unknown");
    expect(user.mayKey("app:1", "R")).toBe("yes");
    expect(user.mayChannel("x")).toBe("unknown");
    expect(dryRun(user, ["DEL", "k"])).toMatchObject({ allowed: false, unknown: true });
    expect(checkScript(user, ["EVAL", "", "0"], []).unknown).toBe(true);
    const later = only("user app on nopass ${RULES} +get ~k");
    expect(later.can("get")).toBe("yes");
    expect(dryRun(later, ["GET", "k"]).allowed).toBe(true);
  });

  it("in single rules leave the other rules certain", () => {
    const user = only("user app on nopass ~* -@all +get +{{ .Values.command }} +config|${SUB} -@${CATEGORY} +set");
    expect(user.certain).toBe(true);
    expect(user.can("set")).toBe("yes");
    expect(user.can("get")).toBe("unknown");
    expect(user.can("del")).toBe("unknown");
    const some = only("user app on nopass +get +config|${SUB}");
    expect(some.can("get")).toBe("yes");
    expect(some.can("del")).toBe("no");
    expect(some.can("config|get")).toBe("unknown");
    expect([...some.commands]).toEqual(["get"]);
  });

  it("stay inside selectors", () => {
    const user = only("user app on nopass (+get ~${P}* ) (~x +set {{ more rules }})");
    expect(user.selectors).toHaveLength(2);
    expect(user.selectors[0]!.keys[0]!.placeholder).toBe(true);
    expect(shown(user.selectors[0]!.keys[0]!.at)).toBe("~${P}*");
    expect(shown(user.unknown[0]!.at)).toBe("{{ more rules }}");
    expect(shown(user.selectors[1]!.at!)).toBe("(~x +set {{ more rules }})");
  });

  it("may name users, and may be whole lines", () => {
    const result = template(
      "{{ .Values.extraUsers }}\nuser ${APP_USER} on +get\n{{ range .users }}\nuser {{ .name }} on\n{{ end }}\n",
    );
    if (!result.ok) throw new Error("it does not load");
    expect([...result.users.keys()]).toEqual(["${APP_USER}", "{{ .name }}"]);
    expect(result.users.get("${APP_USER}")!.namePlaceholder).toBe(true);
    expect(result.unknownLines.map(shown)).toEqual(["{{ .Values.extraUsers }}"]);
  });

  it("that are statements make their line doubtful", () => {
    const user = only("user app on nopass +get {{ if .write }} +set {{- end }}");
    expect(user.statements.map(shown)).toEqual(["{{ if .write }}", "{{- end }}"]);
    expect(user.certain).toBe(false);
    expect(user.can("del")).toBe("unknown");
    expect(user.can("set")).toBe("yes");
    expect(only("{# a comment #}\nuser app on {% if x %} +set {% endif %}").can("get")).toBe("unknown");
  });

  it("still let errors be seen", () => {
    const result = template("user a on >${P} +nosuch\nuser ${A} on\nuser ${A} off\n");
    expect(result.ok ? [] : result.errors.map((e) => [e.line, shown(e.at)])).toEqual([
      [1, "+nosuch"],
      [3, "${A}"],
    ]);
    expect(template("user a on (+get ~${K}").ok).toBe(false);
  });
});

describe("redis.conf templates", () => {
  it("keep placeholders in user lines", () => {
    const result = load('port {{ .port }}\nuser app on ">{{ .Values.password }}" ~${P}:* +get\n', {
      server: "7.2",
      origin: "conf",
      placeholders: true,
    });
    if (!result.ok) throw new Error("it does not load");
    const app = result.users.get("app")!;
    expect(app.passwords[0]!.placeholder).toBe(true);
    expect(app.root.keys[0]!.placeholder).toBe(true);
  });
});
