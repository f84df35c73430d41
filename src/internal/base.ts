// What packages beside the core use of its base: bytes, calls, errors, files, options, texts; and how requests of our own are left out of traces.
// Loads nothing of spans.
export { ByteReader } from '../base/bytes/byte-reader.js';
export { ByteWriter, nanosWords, toNanosWords, varintLength } from '../base/bytes/byte-writer.js';
export { attempt, orThrow } from '../base/calls/attempt.js';
export { isAlive } from '../base/calls/is-alive.js';
export { type Mark, mark } from '../base/calls/mark.js';
export {
  type Backoff,
  backoffMs,
  chunks,
  inParallel,
  inSlices,
  onAbort,
  Slices,
  sleep,
  timers,
  unlessAborted,
  within,
} from '../base/calls/timers.js';
export { userName } from '../base/calls/user-name.js';
export { abortedBy, SpanlineError, throwIfAborted, wrongOption } from '../base/errors.js';
export { type FsSteps, makeDirectory, runAsync, runSync, syncDirectory } from '../base/files/fs-steps.js';
export {
  isGone,
  placeOf,
  undefinedIfGone,
  unlessGone,
  WholeFile,
  writeAll,
  writeWhole,
} from '../base/files/whole-file.js';
export { hostName, isLocalName, isLoopback } from '../base/loopback.js';
export { firstIndex } from '../base/maps/first-index.js';
export { BoundedCache, getOrMake } from '../base/maps/maps.js';
export { sharedState } from '../base/maps/shared-state.js';
export { anyNumber, finiteNumber, flag, isBucket, oneOf, wholeNumber } from '../base/options/checks.js';
export { addOwnAgent } from '../base/own-agents.js';
export { missingPackage, packageRoot, plugNPlayArguments } from '../base/packages.js';
export { TargetError, targetFailure } from '../base/target-error.js';
export {
  escapeCharacter,
  escapeLines,
  escapeText,
  isSafeText,
  quoteWords,
  shortText,
  UNSAFE,
} from '../base/text/escape-text.js';
