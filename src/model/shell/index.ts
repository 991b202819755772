/** What shell scripts of a contract do: the program (`program.ts`) and the questions that rules ask of it. */
export { finds, succeedsOn } from "./answer.js";
export { commandProgram, scriptProgram } from "./build.js";
export {
  type Grep,
  type Guard,
  grepOf,
  guardsOf,
  isDead,
  readsFile,
  somePart,
  type Test,
  testOf,
} from "./conditions.js";
export { contentOf, type FileContent, type Variant } from "./content.js";
export { type CopyOnce, copyOnce, type Verdict } from "./copy.js";
export { type EditKind, editsOf, editsPath, type FileEdit, fileEdits } from "./edits.js";
export { marksOfFirstRun } from "./first-run.js";
export { expandReferences } from "./kubelet.js";
export * from "./lab.js";
export { runsBefore, succeedsBefore } from "./order.js";
export type { Content, Segment, TextEdit } from "./output.js";
export { hurries, spinningLoops } from "./pauses.js";
export type * from "./program.js";
export { type Consumer, type RedisAuth, type RedisCall, type RedisCommand, redisCalls, redisCallsOf } from "./redis.js";
export { type ExposedSecret, exposedSecrets, isSecretName } from "./secrets.js";
export { type SedCommand, sedCall } from "./sed.js";
export { type ServerOverride, type ServerStart, serverStart, serverStarts } from "./servers.js";
export {
  baseName,
  type Hole,
  isPath,
  literal,
  makeText,
  matches,
  type Piece,
  runsOf,
  SHELL,
  show,
  type Text,
  variablesOf,
} from "./text.js";
export { type Probe, probeOf, type Wait, waitsOf } from "./waits.js";
