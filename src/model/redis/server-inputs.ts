/** What shapes a server's values besides its file: the command line of its container, and scripts that edit the file. */
import type { ConfArgument } from "../../document/redis-conf.js";
import type { Contract } from "../contract.js";
import type { Server } from "../plane.js";
import { placedWord } from "./conf-argv.js";
import type { ServerInputs } from "./deployment.js";

const NONE: ServerInputs = { edits: [], arguments: [] };
const SERVER = /(?:^|\/)(?:redis|valkey)-(?:server|sentinel)$/;

export function serverInputs(server: Server, _contract: Contract): ServerInputs {
  const { container } = server.plane;
  const command = container?.entrypoint;
  if (command === undefined) return NONE;
  const { words } = command;
  const at = words.findIndex((w) => SERVER.test(w.text));
  // without an explicit command the image's entrypoint gets the arguments as they are
  if (at < 0 && command.explicit) return NONE;
  const args: ConfArgument[] = words.slice(at + 1).map((w) => placedWord(w.text, w.place));
  return args.length === 0 ? NONE : { edits: [], arguments: args };
}
