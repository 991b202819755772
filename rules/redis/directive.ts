import { defineRule, type ReportExtra } from "../../src/engine/rule.js";
import { isOfficialImage } from "../../src/model/image.js";
import type { Server } from "../../src/model/plane.js";
import type { ConfFinding } from "../../src/model/redis/conf-finding.js";
import { findingsOf, weightOf } from "../../src/model/redis/conf-owner.js";
import { valueAt } from "../../src/model/redis/conf-place.js";

export default defineRule({
  severity: "error",
  fixable: true,
  docs: {
    summary: "Each directive exists in the declared version, means what is written, and stands once.",
    why: "The server refuses to start, or it starts with a value that nobody wrote: `5s` is five milliseconds, a comment behind a value is part of the value.",
    fix: "Write the directive as the server of this version reads it.",
    bad: "save 900 1   # after 15 min\nsentinel down-after-milliseconds redis-lab 5s\n",
    good: "# after 15 min\nsave 900 1\nsentinel down-after-milliseconds redis-lab 5000\n",
    source: {
      title: "Redis: configuration; option tables of config.c and recordings of eleven servers",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/config/",
    },
    rows: ["C-R08", "C-R14"],
  },
  messages: {
    fatal: { text: "{what}; the server does not start{error}", inferred: "error" },
    restart: { text: "{what}{error}", inferred: "error" },
    silent: { text: "{what}", inferred: "error" },
    misread: "{what}",
    directory: {
      text: "`dir {path}`: no volume of {container} holds it, and the image has no such directory; the server does not start",
    },
    repeat: { text: "{what}", help: "Keep one line: the server does not say that it drops the other." },
    useless: { text: "{what}", severity: "warning", inferred: "info" },
    runtime: { text: "{what}", help: "Leave the line out of the template.", inferred: "info", once: true },
    deprecated: { text: "{what}", severity: "info", inferred: "off" },
    note: { text: "{what}", severity: "info", inferred: "info" },
  },
  on: {
    Server(server, { contract, report }) {
      const load = contract.redis.load(server);
      if (load === undefined) return;
      for (const f of findingsOf(load, "redis/directive", contract.declared)) {
        const what = f.message;
        // shipped configurations of an earlier version are full of them
        if (f.code === "no-op" && !contract.declared) continue;
        const extra = extraOf(f, server, contract.declared);
        if (f.class === "fatal" || f.class === "restart") {
          const said = f.server?.split(" / ")[0];
          const error = said === undefined || what.includes(said) ? "" : `: "${said}"`;
          report(f.class, { what, error }, f.at, extra);
        } else if (f.class === "silent" && (f.code === "misread-value" || f.code === "ignored-arguments")) {
          report("misread", { what }, f.at, extra);
        } else report(f.class, { what }, f.at, extra);
      }
      // where data servers write is k8s/persistent-data's matter
      const { container, role } = server.plane;
      const dir = load.values.get("dir");
      const at = valueAt(dir);
      if (role !== "sentinel" || container === undefined || dir.state !== "known" || at === undefined) return;
      const ours = contract.declared || isOfficialImage(container.image);
      if (
        ours &&
        /^\/(?!(?:data|tmp|etc|run|var|home|root|opt|usr|mnt|srv)?\/*$)/.test(dir.value) &&
        container.mountOf(dir.value) === undefined
      )
        report("directory", { path: dir.value, container: container.title }, at);
    },
  },
});

/** Findings whose right text is certain; a name that is merely near is a guess. */
const REPAIRED: ReadonlySet<string> = new Set([
  "trailing-comment",
  "bad-value",
  "sentinel-misread",
  "sentinel-value",
  "old-name",
]);

/** What may not be so after rendering is no failure; where the right text is certain, it is offered. */
function extraOf(f: ConfFinding, server: Server, declared: boolean): ReportExtra {
  const { at, right } = f;
  const edit =
    right === undefined || !REPAIRED.has(f.code) || !inConf(f, server)
      ? undefined
      : right === ""
        ? cut(f)
        : { span: at, newText: right };
  return {
    related: f.related,
    severity: weightOf(f, declared),
    fix:
      edit === undefined
        ? undefined
        : { description: right === "" ? "Remove the comment behind the value." : `Write \`${right}\`.`, edits: [edit] },
  };
}

/** The words stand in the configuration itself, not on a command line or in a script that writes them. */
function inConf({ at }: ConfFinding, { conf }: Server): boolean {
  if (conf === undefined || at.source !== conf.view.source) return false;
  const { view } = conf;
  return at.start >= view.outer(0) && at.end <= view.outer(view.text.length, true);
}

/** A comment goes with the blanks before it. */
function cut({ at }: ConfFinding): { span: ConfFinding["at"]; newText: string } {
  const { source, end } = at;
  let { start } = at;
  while (start > 0 && /[ \t]/.test(source.text[start - 1]!)) start--;
  return { span: { source, start, end }, newText: "" };
}
