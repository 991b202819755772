export function plainLoops(entries: readonly string[]): Map<string, string>;
