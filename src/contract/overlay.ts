/** A host with some files in another state than the disk has them: buffers of an editor, a file that is about to be written. */
import { basename, dirname, type Host } from "./host.js";

/** `files` by absolute path; they are there whatever the host below says. */
export function overlayHost(host: Host, files: ReadonlyMap<string, Uint8Array>): Host {
  return {
    read: (path) => files.get(path) ?? host.read(path),
    real: (path) => (files.has(path) || host.real === undefined ? path : host.real(path)),
    stat: (path) => (files.has(path) ? "file" : host.stat(path)),
    list: (path) => {
      const listed = host.list(path);
      let names: Map<string, NonNullable<ReturnType<Host["list"]>>[number]> | undefined;
      for (const file of files.keys()) {
        if (dirname(file) !== path) continue;
        names ??= new Map((listed ?? []).map((entry) => [entry.name, entry]));
        names.set(basename(file), { name: basename(file), kind: "file" });
      }
      return names === undefined ? listed : [...names.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    },
  };
}
