import { defineRule } from "../../src/engine/rule.js";
import { mayBeSeeded } from "../../src/model/kubernetes/pod-writes.js";
import { type ConfigHome, configHome } from "../../src/model/redis/config-home.js";

const REASONS: Readonly<Record<NonNullable<ConfigHome["obstacle"]>, string>> = {
  "readonly-volume": "it lies on a volume that is mounted read-only",
  "readonly-mount": "its mount is read-only",
  "single-file": "it is mounted as a single file, which cannot be renamed over",
  "readonly-root": "the root filesystem is read-only and no volume holds it",
};

export default defineRule({
  severity: "error",
  inferred: "off",
  docs: {
    summary: "Each Sentinel starts from a configuration of its own that it can rewrite, copied there once.",
    why: "Sentinel rewrites its file on every change of the topology: where it cannot, it does not start or forgets who is primary; a file that is copied over on restart brings back a primary that is gone.",
    fix: "Let an init container copy the template to a volume claim only if it is absent, through a temporary file and a rename, and fail on an empty or damaged file.",
    bad: "volumes:\n  - name: config\n    configMap: { name: sentinel-config }\n",
    good: 'if [ -e "$conf" ]; then\n  [ -s "$conf" ] && grep -q "^sentinel monitor " "$conf" || exit 1\n  exit 0\nfi\ncp "$template" "$conf.tmp"\nmv "$conf.tmp" "$conf"\n',
    source: {
      title: "Redis: Sentinel, a quick tutorial: configuration is rewritten",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/#running-sentinel",
    },
    rows: ["C-K22"],
  },
  messages: {
    readonly: { text: "Sentinel cannot rewrite {path} in {container}: {reason}", inferred: "error" },
    volatile:
      "{path} of {container} goes with the pod: a rescheduled Sentinel forgets epochs, peers and the current primary",
    shared: {
      text: "{path} of {container} is on one claim that all pods share: the Sentinels overwrite each other",
      inferred: "error",
    },
    unseeded: "nothing puts {path} on the volume of {container} before Sentinel starts",
    overwritten: "{by} writes over an existing {path}: a restart brings back the first primary",
    partial:
      "{by} does not put {path} in place at once: a crash in between leaves half a file, and no later start repairs it",
    refused: {
      text: "{by} fails where {path} is there already: a restarted pod never comes up again",
      inferred: "error",
    },
    damaged: "{by} starts Sentinel with an existing {path} that is {state}",
    undecided: {
      text: "how {by} treats an existing {path} is not decided here: {why}",
      severity: "info",
      help: "Use the shape that this rule's page shows as right.",
    },
  },
  on: {
    Plane(plane, { contract, report }) {
      if (plane.role !== "sentinel") return;
      const home = configHome(plane, contract);
      if (home === undefined) return;
      const { path, kind, obstacle, mount } = home;
      const data = { path, container: home.container.title };
      const related = mount === undefined ? [] : [{ at: mount.place, message: "the mount" }];
      if (obstacle !== undefined) {
        const place =
          obstacle === "readonly-root" ? home.container.at("securityContext", "readOnlyRootFilesystem") : home.place;
        report("readonly", { ...data, reason: REASONS[obstacle] }, place, { related });
        return;
      }
      if (kind === "volatile")
        report("volatile", data, mount === undefined ? home.place : contract.declared ? mount.place : home.place, {
          related,
        });
      else if (kind === "shared") report("shared", data, home.place, { related });
      if (kind === "unknown") return;
      if (home.seeds.length === 0 && (mount === undefined || !mayBeSeeded(contract, home.container, mount, path)))
        report("unseeded", data, home.place, { related });
      for (const { container, verdict } of home.seeds) {
        const by = container.title;
        if (verdict.kind === "overwrites") report("overwritten", { by, path }, verdict.by.place);
        else if (verdict.kind === "unknown")
          report("undecided", { by, path, why: verdict.why }, container.at("command"));
        else if (verdict.kind === "copy-if-absent") {
          const { by: invocation, atomic, emptyFails, damagedFileFails } = verdict;
          if (verdict.goodPasses === false) report("refused", { by, path }, invocation.place);
          if (!atomic) report("partial", { by, path }, invocation.place);
          if (emptyFails === false) report("damaged", { by, path, state: "empty" }, invocation.place);
          else if (damagedFileFails === false) report("damaged", { by, path, state: "damaged" }, invocation.place);
          else if (emptyFails === undefined || damagedFileFails === undefined)
            report("undecided", { by, path, why: "the check of an existing file is not understood" }, invocation.place);
        }
      }
    },
  },
});
