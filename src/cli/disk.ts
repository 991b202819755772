/** The disk as a host. */
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import type { Entry, Host } from "../contract/host.js";
import { HostError } from "../contract/host.js";

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EISDIR: "it is a directory",
  ELOOP: "too many symbolic links",
  ERR_FS_FILE_TOO_LARGE: "it is larger than 2 GiB",
};

/** Beyond so many bytes a run is a large one. */
const LARGE = 2 ** 21;
let seen = 0;

/** Tells the launcher that memory will be needed: it starts with as little as can be. `often`: contracts are made again and again. */
export function expectMuch(often = false): void {
  process.emit("quorumlint:large" as never, often as never);
}

export const disk: Host = {
  read(path) {
    try {
      const stat = statSync(path);
      if (!stat.isFile()) return undefined;
      const before = seen;
      seen += stat.size;
      if (before < LARGE && seen >= LARGE) expectMuch();
      return readFileSync(path);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? "";
      if (code === "ENOENT" || code === "ENOTDIR") return undefined;
      throw new HostError(REASONS[code] ?? code);
    }
  },
  stat(path) {
    try {
      const stat = statSync(path);
      return stat.isFile() ? "file" : stat.isDirectory() ? "directory" : undefined;
    } catch {
      return undefined;
    }
  },
  list(path) {
    try {
      return readdirSync(path, { withFileTypes: true })
        .map((entry): Entry => {
          const { name } = entry;
          if (entry.isSymbolicLink()) return { name, kind: disk.stat(`${path}/${name}`) ?? "other", link: true };
          return { name, kind: entry.isFile() ? "file" : entry.isDirectory() ? "directory" : "other" };
        })
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch {
      return undefined;
    }
  },
  real(path) {
    try {
      return realpathSync.native(path).replaceAll("\\", "/");
    } catch {
      return undefined;
    }
  },
};
