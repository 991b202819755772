/** Versions of servers as people write them: `7.2`, `redis-7.2.4`, `valkey 8.0`. */
export interface ServerVersion {
  readonly flavour: "redis" | "valkey";
  readonly major: number;
  readonly minor: number | undefined;
  readonly patch: number | undefined;
  /** `Redis 7.2.4` */
  readonly title: string;
}

export function versionOf(text: string | undefined): ServerVersion | undefined {
  const found = /^\s*(?:(redis|valkey)\b)?[\s:@/_-]*v?(\d{1,4})(?:\.(\d{1,4}))?(?:\.(\d{1,4}))?/i.exec(text ?? "");
  if (found === null) return undefined;
  const flavour = found[1]?.toLowerCase() === "valkey" ? "valkey" : "redis";
  const numbers = found.slice(2).filter((n): n is string => n !== undefined);
  const [major, minor, patch] = numbers.map(Number);
  return {
    flavour,
    major: major!,
    minor,
    patch,
    title: `${flavour === "valkey" ? "Valkey" : "Redis"} ${numbers.join(".")}`,
  };
}

/** Negative: `a` is older. A part that is not written counts as the lowest. */
export function compareVersions(a: ServerVersion, b: ServerVersion): number {
  return a.major - b.major || (a.minor ?? 0) - (b.minor ?? 0) || (a.patch ?? 0) - (b.patch ?? 0);
}

/** Whether a version as written is older than another one of Redis; false where it does not say. */
export function isBefore(text: string | undefined, other: string): boolean {
  const [a, b] = [versionOf(text), versionOf(other)];
  return (
    a !== undefined && b !== undefined && a.flavour === b.flavour && a.minor !== undefined && compareVersions(a, b) < 0
  );
}
