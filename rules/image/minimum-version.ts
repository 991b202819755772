import { defineRule } from "../../src/engine/rule.js";
import { parseImage, serverOfImage } from "../../src/model/image.js";
import { compareVersions, type ServerVersion, versionOf } from "../../src/model/version.js";

export default defineRule({
  severity: "error",
  docs: {
    summary: "The images run at least the Redis version that the contract is judged for.",
    why: "Directives, ACL rules and commands are checked against the declared version: an older server refuses what the check accepted.",
    fix: "Raise the image, or lower redis.minimumVersion and repair what then is reported.",
    bad: 'redis: { minimumVersion: "7.2" }\n# image: redis:7.0.15@sha256:…\n',
    good: 'redis: { minimumVersion: "7.2" }\n# image: redis:7.2.4@sha256:…\n',
    source: { title: "Redis: releases", url: "https://redis.io/docs/latest/operate/oss_and_stack/install/" },
    rows: ["C-I04", "C-K34"],
  },
  messages: {
    older: {
      text: "{image} is {version}; the contract is judged for {minimum} and later",
      help: "Use an image of that version, or declare a lower redis.minimumVersion.",
    },
    flavour: {
      text: "{image} is {version}; the contract is judged for {minimum}",
      help: "Declare the flavour: redis.minimumVersion: valkey-8.0.",
    },
    program: {
      text: "{program} needs {version}, and the servers of this contract may be {server}",
      help: "Raise redis.minimumVersion, or lower that of the program after a look at its commands.",
    },
    nearest: {
      text: "{note}",
      severity: "info",
      inferred: "info",
    },
  },
  on: {
    Contract(contract, { report }) {
      const { asked, note } = contract.redis.version;
      const declared = contract.config.redis?.minimumVersion;
      const minimum = versionOf(declared === undefined ? undefined : String(declared));
      const images: { text: string; at: Parameters<typeof report>[2] }[] = [];
      const registry = contract.imageRegistry?.minimum;
      if (registry !== undefined) images.push({ text: registry.value, at: registry.valueAt });
      for (const workload of contract.workloads) {
        for (const container of workload.containers) {
          const { image } = container;
          // where one file names the image, another one is image/source-of-truth's matter
          if (image !== undefined && registry === undefined) images.push({ text: image, at: container.at("image") });
        }
      }
      if (minimum !== undefined) {
        for (const { text, at } of images) {
          const server = serverOfImage(parseImage(text));
          const version = server?.version === undefined ? undefined : versionOf(`${server.flavour}-${server.version}`);
          if (version === undefined || version.minor === undefined) continue;
          const data = { image: text.replace(/@.*/, ""), version: version.title, minimum: minimum.title };
          if (version.flavour !== minimum.flavour) report("flavour", data, at);
          else if (compareVersions(version, minimum) < 0) report("older", data, at);
        }
      }
      const server = versionOf(asked);
      const newer = contract.programs.programs
        .flatMap(({ entry, name }) => {
          const version = versionOf(entry?.minimumRedisVersion?.value);
          return version === undefined ? [] : [{ name, version, at: entry!.minimumRedisVersion!.at }];
        })
        .filter((p) => server?.minor !== undefined && server.flavour === "redis" && isOlder(server, p.version));
      const [first, ...others] = newer.sort((a, b) => compareVersions(b.version, a.version));
      if (first !== undefined) {
        const related = others.slice(0, 20).map((p) => ({ at: p.at, message: `${p.name} needs ${p.version.title}` }));
        report("program", { program: first.name, version: first.version.title, server: server!.title }, first.at, {
          related,
        });
      }
      if (note === undefined || versionOf(asked)?.minor === undefined) return;
      const place = contract.declaration("redis", "minimumVersion");
      const at =
        declared !== undefined && place !== undefined
          ? place
          : images.find((i) => asked?.endsWith(serverOfImage(parseImage(i.text))?.version ?? "\n"))?.at;
      if (at !== undefined) report("nearest", { note }, at);
    },
  },
});

/** A version without a patch stands for all of its patches. */
function isOlder(server: ServerVersion, needed: ServerVersion): boolean {
  const same = server.patch === undefined && server.major === needed.major && server.minor === needed.minor;
  return !same && compareVersions(server, needed) < 0;
}
