/** Debian's Neovim without a window, attached to the server as the documentation says: what it shows, repairs and explains. */
import { spawnSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { goldenCopy, removeTemporary, temporary } from "../cli/run.js";
import { hasTool, root } from "../support.js";
import { recipe } from "../tools/recipe.js";

afterAll(removeTemporary);

interface Shown {
  readonly code: string;
  readonly lnum: number;
  readonly col: number;
  readonly severity: number;
  readonly message: string;
}

describe("Neovim", () => {
  it("shows findings across files while typing, applies a repair, shows a hover", { timeout: 120_000 }, () => {
    if (!hasTool("nvim", true)) return;
    const bin = temporary();
    symlinkSync(join(root, "bin/quorumlint.js"), join(bin, "quorumlint"));
    const init = join(bin, "recipe.lua");
    writeFileSync(init, recipe("editors.md", "neovim"));
    const folder = goldenCopy();
    const start = join(bin, "start.lua");
    writeFileSync(
      start,
      `RECIPE, FOLDER, BIN = [[${init}]], [[${folder}]], [[${bin}]]\nlocal ok, why = pcall(dofile, [[${join(root, "test/lsp/neovim.lua")}]])\nif not ok then io.stdout:write("failed " .. vim.json.encode(tostring(why)) .. "\\n") vim.cmd("cquit 3") end\n`,
    );
    const run = spawnSync("nvim", ["--headless", "--clean", "-n", "-c", `luafile ${start}`], {
      encoding: "utf8",
      timeout: 110_000,
      env: { ...process.env, XDG_STATE_HOME: bin, XDG_DATA_HOME: bin, XDG_CONFIG_HOME: bin, XDG_CACHE_HOME: bin },
    });
    expect(run.status, `${run.stdout}\n${run.stderr}`).toBe(0);
    const said = new Map(
      run.stdout
        .split(/\r?\n/)
        .filter((line) => /^\w+ /.test(line))
        .map((line) => [line.slice(0, line.indexOf(" ")), JSON.parse(line.slice(line.indexOf(" ") + 1)) as unknown]),
    );
    const manifest = said.get("manifest") as Shown[];
    expect(manifest.map((d) => [d.code, d.lnum, d.col, d.severity])).toEqual(
      [153, 164, 175].map((line) => ["acl/script-access", line, 79, 1]),
    );
    expect(manifest[0]!.message).toContain("authenticates as probe, a user that the data ACL does not have");
    expect(said.get("clean")).toEqual([]);
    expect((said.get("conf") as Shown[])[0]!.code).toBe("redis/directive");
    expect(said.get("action")).toBe("Remove the comment behind the value.");
    expect(said.get("repaired")).toBe("appendfsync everysec");
    expect(said.get("hover")).toContain("Grants `get` on redis-7.2");
    // what was shown came from buffers: nothing was saved
    expect(said.get("modified")).toBe(true);
  });
});
