export function writeOrCompare(files: ReadonlyMap<string, string>, checkOnly: boolean): string[];
