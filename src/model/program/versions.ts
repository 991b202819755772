/** When options of commands and members of the Lua library came into the server (the history sections of the command pages). */
import type { Call } from "./call.js";

interface Since {
  readonly command: string;
  /** Upper case. */
  readonly option: string;
  readonly since: string;
  /** First word of argv in which the option may stand. */
  readonly from: number;
}

const table: Since[] = [];
const add = (since: string, commands: string, options: string, from: number): void => {
  for (const command of commands.split(" ")) {
    for (const option of options.split(" ")) table.push({ command, option, since, from });
  }
};
add("6.0", "set", "KEEPTTL", 3);
add("6.2", "set", "GET EXAT PXAT", 3);
add("7.0", "expire pexpire expireat pexpireat", "NX XX GT LT", 3);
add("6.2", "zadd", "GT LT", 2);
add("6.2", "zrange", "BYSCORE BYLEX REV LIMIT", 4);
add("6.2", "xadd", "NOMKSTREAM MINID", 2);
add("6.2", "xtrim", "MINID", 2);
add("6.2", "geoadd", "NX XX CH", 2);
add("6.2", "georadius georadiusbymember", "ANY", 5);
add("7.0", "bitcount bitpos", "BYTE BIT", 4);

/** Members of `redis.` that came later than Lua scripting. */
const APIS: Readonly<Record<string, string>> = {
  "redis.setresp": "6.0",
  "redis.acl_check_cmd": "7.0",
  "redis.register_function": "7.0",
  "redis.REDIS_VERSION": "7.0",
  "redis.REDIS_VERSION_NUM": "7.0",
};

export function apiSince(name: string): string | undefined {
  return APIS[name.replace(/^server\./, "redis.")];
}

/** Options of a call that an older server does not know, each with the version that brought it. */
export function optionsSince(
  call: Call,
): readonly { readonly option: string; readonly since: string; readonly index: number }[] {
  const out: { option: string; since: string; index: number }[] = [];
  for (const { command, option, since, from } of table) {
    if (call.command !== command) continue;
    for (let i = from; i < call.argv.length; i++) {
      if (call.text(i)?.toUpperCase() === option) out.push({ option, since, index: i });
    }
  }
  return out;
}
