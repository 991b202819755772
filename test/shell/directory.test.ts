import { beforeAll, describe, expect, test } from "vitest";
import { contentOf, copyOnce, serverStarts, show } from "../../src/model/shell/index.js";
import { command, prepare, program } from "./facts.js";

beforeAll(prepare);

/** Files and lines that a script leaves at a path; `?`: not known. */
function left(script: string, path = "/d/a.conf", directory?: string): string[] {
  const { variants, complete } = contentOf(program(script, { directory }), path);
  const texts = variants.map(({ content }) =>
    content === undefined
      ? "?"
      : content.map((s) => (s.kind === "file" ? show(s.path) : s.lines.map(show).join("|"))).join("+"),
  );
  return complete ? texts : [...texts, "…"];
}

describe("relative names", () => {
  test.each([
    ["cd /d\nlive=a.conf\ncat /t > $live.new\nmv $live.new $live", ["/t"]],
    ["cd /\ncd ./d\ncp /t ./a.conf", ["/t"]],
    ["cd /d/e && cp /t ../a.conf", ["/t"]],
    ["(cd /d; cp /t x); cd /d; cp /t a.conf", ["/t"]],
    ["cd /e; cp /t a.conf", []],
    ["cd /e; (cd /d); cp /t a.conf", []],
    // where it runs is not known
    ['cd "$DIR"\ncp /t a.conf', ["…"]],
    ["[ -d /d ] && cd /d\ncp /t a.conf", ["…"]],
    ['cd "$DIR"\ncp /t b.conf', []],
    ["cp /t a.conf", ["…"]],
  ])("%j", (script, expected) => {
    expect(left(script)).toEqual(expected);
  });

  test("start in the container's directory", () => {
    expect(left("cp /t a.conf", "/d/a.conf", "/d")).toEqual(["/t"]);
    expect(left("cp /t a.conf", "/d/a.conf", "/e")).toEqual([]);
  });

  test("of the configuration", () => {
    const config = (words: string[], directory?: string) =>
      serverStarts(command(words, { directory }))[0]!.config!.known;
    expect(config(["redis-server", "a.conf"], "/d")).toBe("/d/a.conf");
    expect(config(["redis-server", "a.conf"])).toBe("a.conf");
    expect(config(["sh", "-ec", "cd /d && exec redis-server ./a.conf"])).toBe("/d/a.conf");
    expect(config(["sh", "-ec", "cd $X && exec redis-server a.conf"], "/d")).toBe("a.conf");
  });

  test("of a file that is copied once", () => {
    const script = "cd /d\nif [ ! -e a.conf ]; then cp /t a.tmp && mv a.tmp a.conf; fi";
    expect(copyOnce(program(script), "/d/a.conf")).toMatchObject({ kind: "copy-if-absent", atomic: true });
  });
});

describe("what is taken from a file of the script", () => {
  test.each([
    ["cat /t > /d/n\necho x >> /d/n\ncat /d/n > /d/a.conf", ["/t+x"]],
    ["echo x > /d/n\ncat /t /d/n > /d/a.conf", ["/t+x"]],
    ["echo x > /d/n\ncat /t > /d/a.conf\ncat /d/n >> /d/a.conf", ["/t+x"]],
    ["f | g > /d/n\ncat /t /d/n > /d/a.conf", ["?"]],
  ])("%j", (script, expected) => {
    expect(left(script)).toEqual(expected);
  });
});

describe("descriptors", () => {
  test.each([
    ["exec 3> /d/a.conf\ncat /t >&3\necho x >&3\nexec 3>&-", ["/t+x"]],
    ["{ cat /t >&4; echo x >&4; echo log; } 4> /d/a.conf", ["/t+x"]],
    ["exec > /d/a.conf\necho x", ["?"]],
  ])("%j", (script, expected) => {
    expect(left(script)).toEqual(expected);
  });
});
