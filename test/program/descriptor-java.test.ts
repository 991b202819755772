/** Descriptors in Java: records, enums, builders, Spring's script objects; and the characters of Java's literals. */
import { describe, expect, it } from "vitest";
import { javaCharacters, javaTextBlock } from "../../src/document/java-text.js";
import { parse, plain, read, reading } from "./code.js";

const SHA = "f0e4c575f212a47f6a05898b785b6a9d46baaa55";
const LUA = "return redis.call('GET', KEYS[1])";

function inClass(body: string, others: Readonly<Record<string, string>> = {}) {
  return read({
    "a/Catalog.java": `package a;\nimport java.util.*;\npublic final class Catalog {\n${body}\n}\n`,
    ...others,
  });
}

const TYPES = {
  "a/_Types.java": `package a;
    import java.util.List;
    enum Access { READ("R"), WRITE("W"), READ_WRITE("RW"); final String code; Access(String code) { this.code = code; } }
    record KeySpec(String name, String pattern, Access access) { static KeySpec of(String n, String p) { return new KeySpec(n, "app:" + p, Access.READ_WRITE); } }
    record ArgSpec(String name, ArgType type, Unit unit) {}
    record Program(String id, String version, String file, String sha1, List<KeySpec> keys, List<ArgSpec> argv, Retry retry) {
      Program(String id, String file) { this(id, "1.0.0", file, null, List.of(), List.of(), Retry.SAFE); }
    }`,
};

describe("catalogs", () => {
  it("records with constants of other files, static imports, nested classes", () => {
    const { descriptors } = inClass(
      `static final Program A = new Program("a", V, Names.A_FILE, Names.Sums.A, List.of(new KeySpec("k", PREFIX + ":*", Access.READ_WRITE), KeySpec.of("l", "x:*")),
         Arrays.asList(new ArgSpec("n", ArgType.INTEGER, Unit.MILLISECONDS)), Retry.READ_ONLY);
       private static final String PREFIX = "app:" + "{t}";
       static final Program B = new Program("b", "b-v1.lua");`,
      {
        ...TYPES,
        "a/_Names.java": `package a; final class Names { static final String A_FILE = "a-v1.lua"; static class Sums { static final String A = "${SHA}"; } static final String V = "1.0.0"; }`,
        "b/_Other.java": `package b; public interface Other { String V = "9.9.9"; }`,
      },
    );
    const [a, b] = descriptors.map(plain);
    expect(a).toMatchObject({
      id: "a",
      // `V` is not imported
      version: "unknown",
      file: "a-v1.lua",
      sha1: SHA,
      keys: ["k app:{t}:* RW", "l app:x:* RW"],
      argv: ["n integer milliseconds"],
      retry: "read-only",
    });
    expect(b).toMatchObject({ id: "b", version: "1.0.0", file: "b-v1.lua", keys: [], argv: [], retry: "safe" });
  });

  it("static imports", () => {
    const { descriptors } = read({
      "a/C.java": `package a; import static b.Names.*; import static b.Names.Inner.FILE; class C { Object x = Map.of("a", new Program("a", FILE, SUM)); record Program(String id, String file, String sha1) {} }`,
      "b/_Names.java": `package b; public class Names { public static final String SUM = "${SHA}"; public static class Inner { public static final String FILE = "a.lua"; } }`,
    });
    expect(descriptors.map(plain)).toEqual([{ id: "a", file: "a.lua", sha1: SHA, holder: "a" }]);
  });

  it("enum constants", () => {
    const { descriptors } = read({
      "a/Scripts.java": `package a;
        enum Scripts implements Script {
          ACQUIRE_LOCK("acquire-lock", "lua/acquire.lua", 1, "${SHA}"),
          RELEASE("release", "lua/release.lua", 2) { @Override void x() {} };
          private final String id; private final String path; private final int numKeys; private String sha;
          Scripts(String name, String path, int numKeys) { this(name, path, numKeys, null); }
          Scripts(String name, String path, int numKeys, String sha) { this.id = name; this.path = "redis/" + path; this.numKeys = numKeys; this.sha = sha; }
        }`,
    });
    expect(descriptors.map(plain)).toEqual([
      { id: "acquire-lock", file: "redis/lua/acquire.lua", numberOfKeys: 1, sha1: SHA, holder: "acquire-lock" },
      { id: "release", file: "redis/lua/release.lua", numberOfKeys: 2, holder: "release" },
    ]);
  });

  it("builders: declared here, declared nowhere, of Lombok", () => {
    const { descriptors } = inClass(`
      static final P A = P.builder("a").version("1.0.0").key("k", "x:*", Access.R).key("l", "y:*", Access.RW).arg("n", ArgType.LONG, Unit.MS).commands("GET", "SET").build();
      static final Q B = Q.builder().id("b").file("b.lua").sha1("${SHA}").build();
      static final D C = new D.Builder().id("c").file("c.lua").addKey("k").build();
      static class D { final String id; final String file; final List<String> keys;
        D(Builder b) { this.id = b.id; this.file = b.file; this.keys = List.copyOf(b.keys); }
        static class Builder { private String id; private String file; private final List<String> keys = new ArrayList<>();
          Builder id(String id) { this.id = id; return this; }
          Builder file(String file) { this.file = "lua/" + file; return this; }
          Builder addKey(String k) { keys.add("app:" + k); return this; }
          D build() { return new D(this); } } }`);
    expect(descriptors.map(plain)).toEqual([
      {
        version: "1.0.0",
        keys: ["k x:* R", "l y:* RW"],
        argv: ["n integer milliseconds"],
        commands: ["GET", "SET"],
        holder: "a",
      },
      { id: "b", file: "b.lua", sha1: SHA, holder: "B" },
      { id: "c", file: "lua/c.lua", keys: ["absent app:k absent"], holder: "C" },
    ]);
  });

  it("a class with a constructor, Lombok's constructor, an undeclared class whose values speak", () => {
    const { descriptors } = inClass(`
      @Value static class L { String id; String file; int numberOfKeys; }
      static final L A = new L("a", "a.lua", 2);
      List<Object> list = List.of(new Undeclared("b-program", "b.lua", "${SHA}"));
      static { MAP.put("c", new L("c", "c.lua", 1)); }`);
    expect(descriptors.map(plain)).toEqual(
      [
        { id: "a", file: "a.lua", numberOfKeys: 2, holder: "A" },
        { file: "b.lua", sha1: SHA, holder: "list" },
        { id: "c", file: "c.lua", numberOfKeys: 1, holder: "c" },
      ].map((d) => (d.holder === "list" ? { file: d.file, sha1: d.sha1 } : d)),
    );
  });
});

describe("Spring and drivers", () => {
  it("script objects: constructor, setters, factory, resources, bean methods", () => {
    const { descriptors } = inClass(`
      private static final String TEXT = """
          ${LUA}
          """;
      private static final RedisScript<Long> A = new DefaultRedisScript<>(TEXT, Long.class);
      private static final DefaultRedisScript<List> B;
      static { B = new DefaultRedisScript<>(); B.setLocation(new ClassPathResource("lua/b.lua")); B.setResultType(List.class); }
      @Bean RedisScript<Boolean> rateLimit() {
        DefaultRedisScript<Boolean> script = new DefaultRedisScript<>();
        ClassPathResource resource = new ClassPathResource("META-INF/scripts/" + "rate.lua");
        script.setScriptSource(new ResourceScriptSource(resource));
        script.setResultType(Boolean.class);
        return script;
      }
      Object c = RedisScript.of(new ClassPathResource("c.lua"), String.class);
      private final DefaultRedisScript<Long> d;
      Catalog(StringRedisTemplate t) { this.d = new DefaultRedisScript<>(); this.d.setScriptText("return 1 " + "-- " + 'x'); }`);
    expect(descriptors.map(plain)).toEqual(
      [
        { text: `${LUA}\n`, result: [["integer", "boolean"], "absent", "absent"], holder: "A" },
        { file: "lua/b.lua", result: [["array", "map"], "absent", "absent"] },
        {
          file: "META-INF/scripts/rate.lua",
          result: [["boolean", "integer"], "absent", "absent"],
          holder: "rateLimit",
        },
        { file: "c.lua", result: [["string"], "absent", "absent"], holder: "c" },
        { text: "return 1 -- x" },
      ].map((d) => (d.file === "c.lua" ? { file: d.file, result: d.result } : d)),
    );
  });

  it("texts put together: a builder of strings, lines, format", () => {
    const { descriptors, unresolved } = inClass(`
      static final String A;
      static { StringBuilder sb = new StringBuilder(); sb.append("local k = KEYS[1]; "); sb.append("return ").append(1); A = sb.toString(); }
      RedisScript<Long> a = RedisScript.of(A, Long.class);
      RedisScript<Long> b = RedisScript.of(String.join("\\n", "local k = KEYS[1]", "return k"));
      RedisScript<Long> c = RedisScript.of(String.format("return redis.call('%s', KEYS[%d])", "GET", 1));
      RedisScript<Long> e = RedisScript.of("return redis.call('GET', KEYS[1]) -- %s".formatted(unknown()));`);
    expect(descriptors.map((d) => reading(d.text))).toEqual([
      "local k = KEYS[1]; return 1",
      "local k = KEYS[1]\nreturn k",
      "return redis.call('GET', KEYS[1])",
    ]);
    expect(unresolved.map((u) => u.at.source.slice(u.at).slice(0, 16))).toEqual(['RedisScript.of("']);
  });

  it("durations, units, arithmetic of int", () => {
    const { descriptors } = inClass(`
      record P(String id, String file, long numberOfKeys) {}
      Object x = List.of(new P("a", "a.lua", Duration.ofMinutes(5).toSeconds()), new P("b", "b.lua", TimeUnit.MINUTES.toMillis(2)),
        new P("c", "c.lua", 7 / 2), new P("d", "d.lua", 1_000 * 0x10), new P("e", "e.lua", 2_000_000 * 2_000_000));`);
    expect(descriptors.map((d) => reading(d.numberOfKeys))).toEqual([300, 120_000, 3, 16_000, "unknown"]);
  });
});

describe("what is not decided", () => {
  it("is unknown, not absent", () => {
    const { descriptors } = inClass(
      `static final Program A = new Program("a", System.getenv("V"), Elsewhere.FILE, sum(), flag ? List.of() : null, args, Elsewhere.RETRY);`,
      TYPES,
    );
    expect(plain(descriptors[0]!)).toMatchObject({
      id: "a",
      version: "unknown",
      file: "unknown",
      sha1: "unknown",
      keys: "unknown",
      argv: "unknown",
      retry: "unknown",
    });
  });

  it("a field that is not final and assigned elsewhere", () => {
    const { descriptors } = inClass(
      `static String file = "a.lua"; void x() { file = "b.lua"; } static final Program A = new Program("a", file);`,
      TYPES,
    );
    expect(plain(descriptors[0]!)).toMatchObject({ id: "a", file: "unknown" });
  });
});

// What javac 17 makes of them: each was compiled and printed.
describe("characters", () => {
  it.each([
    [String.raw`a\tb\n\"\'\\`, "a\tb\n\"'\\"],
    [String.raw`\101\7\377\400`, "A\u0007\u00ff\u00200"],
    [String.raw`\u0041\uuu0042\\u0043`, "AB\\u0043"],
    [String.raw`\s|`, " |"],
  ])("%s", (raw, expected) => expect(javaCharacters(raw)).toBe(expected));

  it.each([
    ['"""\n    a\n      b\n    """', "a\n  b\n"],
    ['"""\n    a\n      b"""', "a\n  b"],
    ['"""\n      a\n    b\n  """', "    a\n  b\n"],
    ['"""   \n\ta\n\t  b  \n\n\t"""', "a\n  b\n\n"],
    ['"""\n    a\\\n    b\\n\n    c\\s\\s\n    """', "ab\n\nc  \n"],
    ['"""\r\n    a\r\n    b\r\n    """', "a\nb\n"],
    ['"""\n    \\"""x\\"""\n    """', '"""x"""\n'],
    ['"""\n    \\040\\040a   \n    """', "  a\n"],
    ['"""\n  a\n      \n  b"""', "a\n\nb"],
  ])("text block %#", (raw, expected) => expect(javaTextBlock(raw)).toBe(expected));
});

describe("hostile files", () => {
  it.each([
    ["deep brackets", `class A { int x = ${"(".repeat(50_000)}; }`],
    ["a long sum", `class A { String x = ${'"a" + '.repeat(20_000)}"b"; }`],
    ["a long chain", `class A { Object x = b${".id(1)".repeat(20_000)}; }`],
    ["nested calls", `class A { Object x = ${"f(".repeat(400)}1${")".repeat(400)}; }`],
    ["nested classes", `${"class A { ".repeat(400)}${"}".repeat(400)}`],
    ["else-if chain", `class A { void x() { ${"if (a) { b(); } else ".repeat(3000)} { } } }`],
    ["no Java at all", '\u0001\u0002 {{{ ]]] """ \''.repeat(2000)],
    [
      "recursion",
      `class A { static String f(String x) { return f(x + x) + f(x); } Object x = new P(f("a"), "a.lua"); }`,
    ],
    [
      "constants in a circle",
      `class A { static final String X = B.Y; Object p = new P(X, "a.lua"); } class B { static final String Y = A.X; }`,
    ],
  ])("%s", (_, text) => {
    const start = performance.now();
    parse("A.java", text);
    read({ "A.java": text });
    expect(performance.now() - start).toBeLessThan(8000);
  });
});
