/** What shell scripts of a contract do: the program (`program.ts`) and the questions that rules ask of it. */
export { commandProgram, scriptProgram } from "./build.js";
export { type Grep, type Guard, grepOf, guardsOf, readsFile, type Test, testOf } from "./conditions.js";
export { type CopyOnce, copyOnce, type Verdict } from "./copy.js";
export {
  type Content,
  contentOf,
  type EditKind,
  editsOf,
  editsPath,
  type FileContent,
  type FileEdit,
  fileEdits,
  type SedCommand,
  type Segment,
  type TextEdit,
  type Variant,
} from "./edits.js";
export * from "./lab.js";
export { runsBefore, succeedsBefore } from "./order.js";
export type * from "./program.js";
export {
  type Consumer,
  type ExposedSecret,
  exposedSecrets,
  isSecretName,
  type RedisAuth,
  type RedisCall,
  type RedisCommand,
  redisCalls,
  redisCallsOf,
  type ServerOverride,
  type ServerStart,
  serverStart,
  serverStarts,
} from "./redis.js";
export { type Hole, isPath, matches, type Piece, show, type Text, variablesOf } from "./text.js";
export { type Probe, probeOf, type Wait, waitsOf } from "./waits.js";
