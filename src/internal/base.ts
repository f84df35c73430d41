// What packages beside the core use of its base: bytes, calls, errors, files, options, texts. Loads nothing of spans.
export { ByteReader } from '../base/bytes/byte-reader.js';
export { ByteWriter } from '../base/bytes/byte-writer.js';
export { varintLength } from '../base/bytes/varint.js';
export { type Backoff, backoffMs } from '../base/calls/backoff.js';
export { chunks, inParallel } from '../base/calls/in-parallel.js';
export { isAlive } from '../base/calls/is-alive.js';
export { codeBetween, type Mark, mark, type OwnCode } from '../base/calls/mark.js';
export { missingPackage } from '../base/calls/missing-package.js';
export { plugNPlayArguments } from '../base/calls/plug-n-play.js';
export { sleep } from '../base/calls/sleep.js';
export { inSlices, Slices } from '../base/calls/slices.js';
export { timers } from '../base/calls/timers.js';
export { userName } from '../base/calls/user-name.js';
export { within } from '../base/calls/within.js';
export { abortedBy, throwIfAborted } from '../base/errors/aborted.js';
export { wrongOption } from '../base/errors/option-error.js';
export { SpanlineError } from '../base/errors/spanline-error.js';
export { type FsSteps, runAsync, runSync } from '../base/files/fs-steps.js';
export { makeDirectory } from '../base/files/make-directory.js';
export { syncDirectory } from '../base/files/sync-directory.js';
export { placeOf, WholeFile, writeAll, writeWhole } from '../base/files/whole-file.js';
export { targetFailure } from '../base/inspector/target-error.js';
export { BoundedCache } from '../base/maps/bounded-cache.js';
export { getOrMake } from '../base/maps/get-or-make.js';
export { sharedState } from '../base/maps/shared-state.js';
export { anyNumber, finiteNumber, flag, oneOf, wholeNumber } from '../base/options/checks.js';
export { packageRoot } from '../base/package-root.js';
export { cut, displayWidth } from '../base/text/display-width.js';
export {
  escapeCharacter,
  escapeLines,
  escapeText,
  isSafeText,
  quoteWords,
  shortText,
  UNSAFE,
} from '../base/text/escape-text.js';
