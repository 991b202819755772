import { defineRule } from "../../src/engine/rule.js";
import { byPlace, isJudged, lacking, showCommands, showLacks, surplus } from "../../src/model/redis/role-check.js";
import { sentinelWires, type Wire } from "../../src/model/redis/roles.js";
import { PEER } from "../../src/model/redis/roles-data.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "Sentinels authenticate at each other as one user that may ask whether the primary is down.",
    why: "Without sentinel|is-master-down-by-addr no failover ever happens, and it is the one mistake that no health check shows: SENTINEL CKQUORUM keeps saying OK.",
    fix: "Give the peer user +ping and +sentinel|is-master-down-by-addr in the Sentinel ACL, the same user and password at every Sentinel.",
    bad: "user sentinel-peer on >${PASSWORD} -@all +ping +sentinel|get-master-addr-by-name\n",
    good: "user sentinel-peer on >${PASSWORD} resetkeys resetchannels -@all +ping +sentinel|is-master-down-by-addr\n",
    source: {
      title: "Redis Sentinel: access control list authentication",
      url: "https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/#redis-access-control-list-authentication",
    },
    rows: ["C-A06"],
  },
  messages: {
    missing: { text: "the Sentinel peer user {user} lacks {commands}: {effect}", inferred: "error" },
    ping: { text: "the Sentinel peer user {user} lacks +ping: {effect}", inferred: "warning" },
    superuser: {
      text: "the contract declares the peer a superuser, and {user} may not run {commands}",
      help: "Declare policy.peer: minimal where this is meant.",
      inferred: "off",
    },
    surplus: {
      text: "the Sentinel peer user {user} has more than a vote: {commands} (by {tokens})",
      help: "The contract declares policy.peer: minimal: +ping +sentinel|is-master-down-by-addr.",
      inferred: "off",
    },
    several: {
      text: "Sentinels authenticate at each other with different credentials: {directive} is {one} here and {other} at another Sentinel",
      help: "Each Sentinel sends its own sentinel-user and sentinel-pass, and the others must know them.",
      inferred: "warning",
    },
  },
  on: {
    Contract(contract, { report }) {
      const policy = contract.config.policy?.peer;
      for (const role of contract.redis.roleUsers("peer")) {
        if (!isJudged(role)) continue;
        const { user, name } = role;
        const lacks = lacking(user, PEER.commands);
        for (const id of ["missing", "ping"] as const) {
          const own = lacks.filter((l) => (l.permission.command === "ping") === (id === "ping"));
          for (const group of byPlace(user, own)) report(id, { user: name, ...showLacks(group.lacks) }, group.at);
        }
        if (policy === "superuser" && lacks.length === 0) {
          const denied = user.table.commands.filter((c) => user.can(c.name) === "no").map((c) => c.name);
          if (denied.length > 0) {
            report("superuser", { user: name, commands: showCommands(denied).replaceAll("+", "") }, user.nameAt);
          }
        } else if (policy === "minimal") {
          const allowed = new Set([...PEER.commands.map((c) => c.command), ...PEER.tolerated]);
          const more = surplus(user, (c) => allowed.has(c));
          if (more !== undefined) report("surplus", { user: name, ...more }, more.at, more);
        }
      }
    },
    Plane(plane, { contract, report }) {
      if (plane.role !== "sentinel") return;
      const first = new Map<string, Wire>();
      for (const server of plane.servers) {
        const load = contract.redis.load(server);
        for (const wire of load === undefined ? [] : sentinelWires(load)) {
          if (wire.master !== undefined) continue;
          const known = first.get(wire.directive);
          if (known === undefined) first.set(wire.directive, wire);
          else if (known.value.value !== wire.value.value) {
            const secret = wire.directive.endsWith("pass");
            const shown = (w: Wire): string =>
              secret && w.value.placeholder === "none" ? "one password" : w.value.value;
            const data = {
              directive: wire.directive,
              one: shown(wire),
              other: secret && wire.value.placeholder === "none" ? "another" : shown(known),
            };
            report("several", data, wire.value.at, {
              related: [{ at: known.value.at, message: "the other Sentinel" }],
            });
          }
        }
      }
    },
  },
});
