// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text
import { beforeAll, describe, expect, it } from "vitest";
import {
  contentOf,
  editsPath,
  type FileContent,
  type FileEdit,
  fileEdits,
  type Segment,
  show,
} from "../../src/model/shell/index.js";
import { sedCommands } from "../../src/model/shell/sed.js";
import { literal } from "../../src/model/shell/text.js";
import { at, prepare, program } from "./facts.js";

beforeAll(prepare);

function segment(s: Segment): string {
  const what = s.kind === "file" ? `<${show(s.path)}>` : s.lines.map(show).join("/");
  const edits = s.edits.map((e) => (e.kind === "substitute" ? `s:${show(e.pattern)}:${show(e.replacement)}` : e.kind));
  return [what, ...edits].join("|") + (s.guards.length > 0 ? `?${s.guards.length}` : "");
}

function edit(e: FileEdit): string {
  const content = e.content === undefined ? "?" : e.content.map(segment).join(" + ");
  const target = show(e.target) + (e.inside === undefined ? "" : ` or ${show(e.inside)}`);
  return `${e.kind} ${target}${e.noClobber ? " -n" : ""}: ${content}`;
}

describe("edits", () => {
  it.each<[string, string[]]>([
    ["echo port 0 > /f", ["write /f: port 0"]],
    ['echo "port $P" >> "$D/f"', ["append ${D}/f: port ${P}"]],
    ["echo -n x > /f", ["write /f: x"]],
    ["echo -e 'a\\nb' > /f", ["write /f: a/b"]],
    ["echo 'a\\nb' > /f", ["write /f: ?"]],
    ["echo > /f", ["write /f: "]],
    ["printf 'port %s\\ntls-port %s\\n' 0 \"$P\" > /f", ["write /f: port 0/tls-port ${P}"]],
    ["printf '%s\\n' a b > /f", ["write /f: a/b"]],
    ['printf "a $X\\n" >> /f', ["append /f: a ${X}"]],
    ["printf '%5d' 1 > /f", ["write /f: ?"]],
    ["cat <<E > /f\nport 0\n$X\nE", ["write /f: port 0/${X}"]],
    ["cat > /f <<'E'\nport $X\nE", ["write /f: port $X"]],
    ["cat /a /b > /f", ["write /f: </a> + </b>"]],
    ["cat /a - <<E > /f\nx\nE", ["write /f: </a> + x"]],
    ["cat < /a > /f", ["write /f: </a>"]],
    ["cat /a | tee /f /g", ["write /f: </a>", "write /g: </a>"]],
    ["echo x | tee -a /f > /dev/null", ["append /f: x"]],
    ["sed 's/__A__/b/' /a > /f", ["write /f: </a>|s:__A__:b"]],
    ['sed -e "s|%H%|$H|g" -e s,x,y, < /a > /f', ["write /f: </a>|s:%H%:${H}|s:x:y"]],
    ["cat /a | sed 's/x/y/' | envsubst > /f", ["write /f: </a>|s:x:y|envsubst"]],
    ["envsubst < /a > /f", ["write /f: </a>|envsubst"]],
    ["sed -i 's/a/b/' /f /g", ["edit /f: ?", "edit /g: ?"]],
    ["awk 1 /a > /f", ["write /f: ?"]],
    ["cp /a /f", ["copy /f or /f/a: </a>"]],
    ["cp -n /a/x.conf /d/", ["copy /d/x.conf -n: </a/x.conf>"]],
    ["cp /a /b /d", ["copy /d/a: </a>", "copy /d/b: </b>"]],
    ["cp -r /a/. /d/", ["copy /d/…: </a/.>"]],
    ["cp /a/* /d", ["copy /d/*: </a/*>"]],
    ["cp -t /d /a /b", ["copy /d/a: </a>", "copy /d/b: </b>"]],
    ["cp -T /a /f", ["copy /f: </a>"]],
    ["mv -f /t /f", ["move /f or /f/t: </t>", "remove /t: ?"]],
    ["ln -sf /a /f", ["link /f or /f/a: ?"]],
    ["install -m 0600 -o redis /a /f", ["copy /f or /f/a: </a>"]],
    ["install -d /d", []],
    [": > /f", ["write /f: "]],
    ["> /f", ["write /f: "]],
    ["touch /f", ["touch /f: "]],
    ["rm -f /f", ["remove /f: ?"]],
    ["truncate -s 0 /f", ["write /f: "]],
    ["dd if=/a of=/f", ["write /f: ?"]],
    ["curl -o /f https://h", ["write /f: ?"]],
    ["{ echo a; echo b; } > /f", ["write /f: a", "write /f: b"]],
    ["f() { echo a; }; f >> /f", ["append /f: a"]],
    ["echo x >&2; echo y 2> /e; echo z > /dev/null", []],
    ["mkdir -p /d; chmod 600 /f; chown a /f", []],
    ["D=/data; F=$D/redis.conf; echo x >> $F", ["append /data/redis.conf: x"]],
    ["tar xf /a -C /d", ["write /d/…: ?"]],
  ])("%s", (text, expected) => {
    expect(fileEdits(program(text)).map(edit)).toEqual(expected);
  });

  it("know their file", () => {
    const check = (text: string, path: string) => editsPath(fileEdits(program(text))[0]!, path);
    expect(check("cp /a/redis.conf /etc/redis", "/etc/redis/redis.conf")).toBe("yes");
    expect(check("cp /a/redis.conf /etc/redis", "/etc/redis")).toBe("yes");
    expect(check("cp /a/* /etc/redis/", "/etc/redis/redis.conf")).toBe("maybe");
    expect(check("cp /a/*.acl /etc/redis/", "/etc/redis/redis.conf")).toBe("no");
    expect(check("echo x > $F", "/f")).toBe("maybe");
    expect(check("echo x > $D/users.acl", "/data/redis.conf")).toBe("no");
    expect(check("echo x > //data/./redis.conf", "/data/redis.conf")).toBe("yes");
  });

  it("have the place of each line", () => {
    const [a, b] = fileEdits(program('echo "port 0" > /f\ncat >> /f <<E\nx\n  y $Z\nE\n'));
    const lines = [a!, b!].flatMap((e) => e.content!.flatMap((s) => (s.kind === "lines" ? s.lines : [])));
    expect(lines.map((line) => at(line.place))).toEqual(['"port 0"', "x", "  y $Z"]);
  });
});

describe("sed", () => {
  it.each<[string, string]>([
    ["s/__POD__/x/g", "__POD__=__POD__ -> x"],
    ["s/\\$A/x/; s|%B%|y|g", "\\$A=$A -> x, %B%=%B% -> y"],
    ["s/a.b/c/", "a.b=a.b -> c"],
    ["s/^port .*/port 0/", "^port .* -> port 0"],
    ["s/a\\/b/c\\&d/", "a/b=a/b -> c&d"],
    ["s/x$/y/", "x$ -> y"],
    ["/^slaveof/d", "other"],
    ["2s/a/b/", "other"],
    ["s/a/b", "other"],
    ["s/a/b/w /f", "other"],
    ["", ""],
  ])("%s", (script, expected) => {
    const found = sedCommands(literal(script)).map((c) =>
      c.kind === "substitute"
        ? `${show(c.pattern)}${c.literal === undefined ? "" : `=${c.literal}`} -> ${show(c.replacement)}`
        : c.kind,
    );
    expect(found.join(", ")).toBe(expected);
  });
  it("says which words it touches", () => {
    expect(sedCommands(literal("s/^#* *requirepass .*/requirepass x/"))[0]!.mentions).toEqual(["requirepass", "x"]);
    expect(sedCommands(literal("/^replicaof/d"))[0]!.mentions).toContain("replicaof");
    expect(sedCommands(literal("s/.*//"))[0]!.mentions).toBeUndefined();
  });
});

describe("content", () => {
  it("keeps the condition of an edit", () => {
    const [variant] = contentOf(
      program("cp /a /f; if [ $X ]; then sed -i s/a/b/ /f; fi; sed -i s/c/d/ /f"),
      "/f",
    ).variants;
    expect(variant!.content![0]!.edits.map((e) => e.guards?.length)).toEqual([1, undefined]);
  });
  function content(text: string, path: string): [string[], string[], boolean] {
    const found: FileContent = contentOf(program(text), path);
    return [
      found.variants.map(
        (v) =>
          (v.content === undefined ? "?" : v.content.map(segment).join(" + ")) +
          (v.guards.length > 0 ? ` if ${v.guards.length}` : ""),
      ),
      found.added.map((e) => e.kind),
      found.complete,
    ];
  }
  it.each<[string, string[], string[], boolean]>([
    ["cp /a /f; echo x >> /f", ["</a> + x"], [], true],
    ["sed 's/A/b/' /a > /f.tmp; echo x >> /f.tmp; mv /f.tmp /f", ["</a>|s:A:b + x"], [], true],
    ["T=$(mktemp); cat /a > $T; mv $T /f", ["</a>"], [], true],
    ["if [ ! -f /f ]; then cp /a /f; fi", ["</a> if 1"], [], true],
    ["if [ ! -f /f ]; then cp /a /f; echo x >> /f; fi", ["</a> + x if 1"], [], true],
    ["cp /a /f; if [ $N != 0 ]; then echo replicaof >> /f; fi", ["</a> + replicaof?1"], [], true],
    ["if [ $N = 0 ]; then cp /m /f; else cp /r /f; fi", ["</m> if 1", "</r> if 1"], [], true],
    ["cp /a /f; cp /b /f", ["</b>"], [], true],
    ["cp /a /f; [ $X ] && cp /b /f", ["</a>", "</b> if 1"], [], true],
    ["echo x >> /f", [], ["append"], true],
    ["sed -i s/a/b/ /f", [], ["edit"], true],
    ["cp /a /f; sed -i 's/A/b/' /f; echo y >> /f", ["</a>|s:A:b + y"], [], true],
    ["{ echo a; echo b; } > /f", ["a + b"], [], true],
    ["{ echo a; if [ $X ]; then echo b; fi; } > /f", ["a + b?1"], [], true],
    ["(echo a; echo b) >> /f", [], ["append", "append"], true],
    ["awk 1 /a > /f", ["?"], [], true],
    ["cp /a /f; awk 1 >> /f", ["?"], [], true],
    ["cp /a /f; echo x >> $G", ["</a>"], [], false],
    ["cp /a /f; . /lib", ["</a>"], [], false],
    ["cp /a /f; rm /f", [], [], true],
    ["f() { cp $1 $2; }; f /a /f", ["</a>"], [], true],
    ["cat > /f <<E\nport 0\nE\ntrue", ["port 0"], [], true],
    ["touch /f", [""], [], true],
    ["x", [], [], true],
  ])("%s", (text, variants, added, complete) => {
    expect(content(text, "/f")).toEqual([variants, added, complete]);
  });
});
