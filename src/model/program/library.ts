/** Names that a script finds on the server: Redis documentation, "Redis Lua API reference". */

/** Global names that a script finds (Redis 7; `server` is Valkey's name for `redis`). */
export const LIBRARY: ReadonlySet<string> = new Set(
  "redis server string table math bit cjson cmsgpack struct os KEYS ARGV _G _VERSION assert error getmetatable ipairs loadstring load dofile loadfile next pairs pcall rawequal rawget rawset require select setmetatable tonumber tostring type unpack xpcall coroutine print collectgarbage gcinfo newproxy getfenv setfenv".split(
    " ",
  ),
);

const MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  redis: members(
    "call pcall error_reply status_reply sha1hex log setresp replicate_commands set_repl breakpoint debug acl_check_cmd register_function REDIS_VERSION REDIS_VERSION_NUM LOG_DEBUG LOG_VERBOSE LOG_NOTICE LOG_WARNING REPL_ALL REPL_AOF REPL_REPLICA REPL_SLAVE REPL_NONE SERVER_NAME SERVER_VERSION SERVER_VERSION_NUM",
  ),
  string: members("byte char dump find format gfind gmatch gsub len lower match rep reverse sub upper"),
  table: members("concat foreach foreachi getn insert maxn remove setn sort unpack"),
  math: members(
    "abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log log10 max min mod modf pi pow rad random randomseed sin sinh sqrt tan tanh",
  ),
  bit: members("tobit tohex bnot band bor bxor lshift rshift arshift rol ror bswap"),
  cjson: members(
    "decode encode null encode_sparse_array encode_max_depth decode_max_depth encode_number_precision encode_keep_buffer encode_invalid_numbers decode_invalid_numbers decode_array_with_array_mt array_mt empty_array empty_array_mt new",
  ),
  cmsgpack: members("pack unpack unpack_one unpack_limit"),
  struct: members("pack unpack size"),
  os: members("clock time"),
  coroutine: members("create resume yield wrap status running"),
};

function members(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}

export function isLibrary(name: string): boolean {
  const dot = name.indexOf(".");
  if (dot < 0) return LIBRARY.has(name);
  const owner = name.slice(0, dot);
  return (owner === "server" ? MEMBERS.redis : MEMBERS[owner])?.has(name.slice(dot + 1)) ?? false;
}
