/** Runs commands in turn and reports CPU time and memory of whole processes: ratios hold where single times do not. */
import { spawnSync } from "node:child_process";

/**
 * One run: user + system seconds and peak memory (KiB) as the operating system counted them. The shell's `time` counts
 * milliseconds; /usr/bin/time, which alone knows the memory, cuts each figure to hundredths: a fifth of a short run.
 */
export function once(command, args, options = {}) {
  const memory = options.memory === true;
  const run = memory ? ["/usr/bin/time", "-f", "%M", command, ...args] : [command, ...args];
  const result = spawnSync("bash", ["-c", `TIMEFORMAT='%3U %3S %3R'; time "$@" >/dev/null`, "bash", ...run], {
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
    maxBuffer: 1 << 28,
    env: { ...process.env, LC_ALL: "C" },
  });
  const lines = result.stderr.trim().split("\n");
  const [user, system, wall] = lines.pop().split(" ").map(Number);
  return { cpu: user + system, wall, memory: memory ? Number(lines.pop()) : undefined, code: result.status };
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

/** Interleaved runs of several commands: `{ name: [command, ...args] }` → medians and minima by name. */
export function interleaved(commands, rounds, options = {}) {
  const runs = Object.fromEntries(Object.keys(commands).map((name) => [name, []]));
  for (let i = 0; i < rounds; i++) {
    for (const [name, [command, ...args]] of Object.entries(commands)) runs[name].push(once(command, args, options));
  }
  return Object.fromEntries(
    Object.entries(runs).map(([name, all]) => [
      name,
      { wall: median(all.map((r) => r.wall)), cpu: median(all.map((r) => r.cpu)), least: Math.min(...all.map((r) => r.cpu)), memory: median(all.map((r) => r.memory)) },
    ]),
  );
}
