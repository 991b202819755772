/** Environment variables of a server's container: which of them the official image reads, and who else does. */
import type { Contract } from "../contract.js";
import { isOfficialImage } from "../image.js";
import type { Plane } from "../plane.js";
import { serverStarts } from "../shell/index.js";
import { hasToken } from "../value.js";
import type { Command } from "./container-parts.js";
import type { Container } from "./workload.js";

const PASSWORD =
  /^(?:(?:REDIS|VALKEY)_(?:(?:MASTER|PRIMARY|REPLICA|SLAVE|SENTINEL|DEFAULT|SERVER|ADMIN|ROOT|USER|DB)_)*(?:PASSWORD|PASSWD|PASSW|PASS|PWD|AUTH|AUTH_PASSWORD|AUTH_TOKEN|SECRET|REQUIREPASS|MASTERAUTH|MASTER_AUTH)|REQUIREPASS|MASTERAUTH|MASTER_PASSWORD)(?:_FILE)?$/;
/** Settings of images that are configured by variables; the official ones are not. */
const SETTING =
  /^(?:(?:REDIS|VALKEY)_(?:PORT_NUMBER|REPLICATION_MODE|MASTER_HOST|MASTER_PORT_NUMBER|MASTER_SET|PRIMARY_HOST|PRIMARY_PORT_NUMBER|SENTINEL_[A-Z_]+|TLS_(?:ENABLED|PORT_NUMBER|CERT_FILE|KEY_FILE|CA_FILE|AUTH_CLIENTS)|AOF_ENABLED|RDB_POLICY|DISABLE_COMMANDS|ACLFILE|OVERRIDES_FILE|REPLICA_IP|REPLICA_PORT|ALLOW_REMOTE_CONNECTIONS|MAXMEMORY|MAXMEMORY_POLICY|APPENDONLY)|REDIS_EXTRA_FLAGS|REDIS_ARGS|ALLOW_EMPTY_PASSWORD)$/;

export interface IgnoredVariable {
  readonly kind: "password" | "setting";
  readonly name: string;
  /** Index in `env`. */
  readonly index: number;
}

/**
 * Variables that look like settings of the server and that nobody reads. What a script mentions, a configuration holds as a
 * placeholder, or a script out of sight may read, is not among them.
 * https://github.com/redis/docker-library-redis, https://github.com/valkey-io/valkey-container
 */
export function ignoredVariables(contract: Contract, { container }: Plane): readonly IgnoredVariable[] {
  if (container === undefined || !isOfficialImage(container.image)) return [];
  if (!container.env.some(({ name }) => PASSWORD.test(name) || SETTING.test(name))) return [];
  const start = readable(contract, container);
  if (start === undefined) return [];
  const open = startsOpen(contract, container);
  const probes = container.commands.filter((c) => c.origin !== "entrypoint").map(textOf);
  const values = container.env.map(({ spec }) => (typeof spec["value"] === "string" ? spec["value"] : ""));
  const elsewhere = mentioned(contract);
  const out: IgnoredVariable[] = [];
  container.env.forEach(({ name }, index) => {
    const kind = PASSWORD.test(name) ? "password" : SETTING.test(name) ? "setting" : undefined;
    if (kind === undefined) return;
    const read = new RegExp(`(?:^|\\W)${name}(?:\\W|$)`);
    if (elsewhere.has(name) || read.test(start) || values.some((t) => read.test(t))) return;
    // a probe may log in with it; where the server has no password, that is the fault itself
    if (!open && probes.some((t) => read.test(t))) return;
    out.push({ kind, name, index });
  });
  return out;
}

const mentions = new WeakMap<Contract, ReadonlySet<string>>();

/** Every name in capitals that a script, a configuration or an ACL of the contract holds. */
function mentioned(contract: Contract): ReadonlySet<string> {
  let known = mentions.get(contract);
  if (known === undefined) {
    const names = new Set<string>();
    const scripts = contract.scripts.filter((s) => s.command === undefined);
    for (const { view } of [...scripts, ...contract.confs, ...contract.acls])
      for (const [name] of view.text.matchAll(/\b[A-Z][A-Z0-9_]{3,80}\b/g)) names.add(name);
    mentions.set(contract, (known = names));
  }
  return known;
}

function textOf(command: Command): string {
  return command.words.map((w) => w.text).join("\n");
}

/** The text that starts the server, mounted scripts included; undefined: something out of sight may read variables. */
function readable(contract: Contract, container: Container): string | undefined {
  const command = container.entrypoint;
  if (command === undefined) return "";
  let text = textOf(command);
  const scripts = [...text.matchAll(/[^\s"'=;|&()<>]*\.sh(?![\w.])/g)].map((m) => m[0]);
  for (const path of scripts) {
    // the images' own start script puts `redis-server` before its arguments
    if (/(?:^|\/)docker-entrypoint\.sh$/.test(path)) continue;
    const script = path.startsWith("/") ? contract.shell.mountedScript(container, path) : undefined;
    if (script === undefined) return undefined;
    text += `\n${script.view.text}`;
  }
  if (/(?:^|[\s;|&(])(?:envsubst|printenv|env)(?:[\s;|&)]|$)/.test(text)) return undefined;
  const first = command.explicit ? (command.words[0]?.text ?? "") : "redis-server";
  const base = first.slice(first.lastIndexOf("/") + 1);
  const shell =
    /^(?:ba|da|a|z|k)?sh$/.test(base) &&
    (scripts.length > 0 || command.words.some((w) => /^-[a-z]*c[a-z]*$/.test(w.text)));
  return shell || /^(?:(?:redis|valkey)-(?:server|sentinel)|docker-entrypoint\.sh|tini|dumb-init|exec)$/.test(base)
    ? text
    : undefined;
}

/** The server certainly starts without a password: no configuration file, and no option that sets one. */
function startsOpen(contract: Contract, container: Container): boolean {
  const command = container.entrypoint;
  if (command === undefined) return true;
  if (hasToken(textOf(command))) return false;
  const starts = serverStarts(contract.shell.program(command), !command.explicit);
  return (
    starts.length === 1 &&
    starts.every(
      (s) =>
        s.config === undefined &&
        !s.uncertain &&
        !s.overrides.some((o) => /^(?:requirepass|aclfile|user|include)$/.test(o.name)),
    )
  );
}
