/** The disk as a host. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import type { Host } from "../contract/host.js";
import { HostError } from "../contract/host.js";

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EISDIR: "it is a directory",
  ELOOP: "too many symbolic links",
  ERR_FS_FILE_TOO_LARGE: "it is larger than 2 GiB",
};

export const disk: Host = {
  read(path) {
    try {
      const stat = statSync(path);
      if (!stat.isFile()) return undefined;
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
        .map((entry) => {
          const kind = entry.isFile()
            ? "file"
            : entry.isDirectory()
              ? "directory"
              : entry.isSymbolicLink()
                ? linked(`${path}/${entry.name}`)
                : "other";
          return { name: entry.name, kind: kind as "file" | "directory" | "other" };
        })
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch {
      return undefined;
    }
  },
};

/** A link to a file is read; a link to a directory is not followed, because it may lead in circles. */
function linked(path: string): "file" | "other" {
  try {
    return statSync(path).isFile() ? "file" : "other";
  } catch {
    return "other";
  }
}
