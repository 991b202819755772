/** `quorumlint init`: writes a contract file from what is found, never over an existing one. */
import { existsSync, statSync, writeFileSync } from "node:fs";
import { rules } from "../../rules/index.js";
import { CONFIG_NAMES } from "../contract/config.js";
import { join } from "../contract/host.js";
import { proposeContract } from "../contract/init.js";
import { VERSION } from "../version.js";
import { absolute } from "./check.js";
import { disk } from "./disk.js";
import { clock, note, print } from "./output.js";
import { prepareParsers } from "./parsers.js";
import { UsageError } from "./usage.js";

export async function initCommand(path: string, flags: { readonly stdout?: boolean }): Promise<number> {
  const root = absolute(path);
  if (!existsSync(root) || !statSync(root).isDirectory()) throw new UsageError(`there is no directory ${path}`);
  const there = CONFIG_NAMES.map((name) => join(root, name)).find((file) => existsSync(file));
  if (there !== undefined) throw new UsageError(`${there} is there already; it is not written over`);
  const options = { rules, today: clock(), version: VERSION, prepare: prepareParsers };
  const { text, contracts, findings } = await proposeContract(disk, root, options);
  if (text === undefined)
    throw new UsageError(`nothing to declare in ${path}: no Redis workload, configuration or ACL found`);
  if (flags.stdout === true) {
    await print(text);
    return 0;
  }
  const file = join(root, CONFIG_NAMES[0]!);
  writeFileSync(file, text, { flag: "wx" });
  const names = contracts.length === 1 ? `contract ${contracts[0]}` : `contracts ${contracts.join(", ")}`;
  note(`quorumlint: wrote ${file}: ${names}`);
  note(
    findings === 0
      ? "quorumlint: a check with it has no finding; read it before you trust it"
      : `quorumlint: a check with it has ${findings} finding${findings === 1 ? "" : "s"}: quorumlint check ${path}`,
  );
  return 0;
}
