// What sibling packages use of archive beyond its public names. Exports only what they in fact import.

export { Arrivals, type Request } from './arrivals.js';
export { appendAll } from './check-span.js';
export { describeRefusals, type KnownParts, newKnownParts } from './formats/decode-context.js';
export { READ_FORMATS, type ReadFormat, readTraceDocument } from './formats/read-document.js';
export { TraceFormatError, tooLarge } from './formats/trace-format-error.js';
export { type KeptSnapshot, keepSnapshot } from './keep-snapshot.js';
export { propertyText } from './meant-spans.js';
export { type OpenMaintainer, openMaintainer } from './open-maintainer.js';
export { sendBytes } from './server/answer.js';
export { ServerCounts, startArchiveServer } from './server/archive-server.js';
export { Guard } from './server/guard.js';
export { HttpError } from './server/http-error.js';
export { type RunningHttpServer, startHttpServer } from './server/http-server.js';
export { loadTraces } from './server/ports.js';
export {
  durationNs,
  endTimeNs,
  microsecondsNs,
  pick,
  required,
  timeNs,
  traceIdOf,
  wholeNumber,
} from './server/query-values.js';
export { BodyBudget, withBody } from './server/read-body.js';
export { type Call, queryRoute, RequestHandler, type Route } from './server/request-handler.js';
export { resolveHttpOptions } from './server/server-options.js';
export { eachOnce } from './shared-ids.js';
export { summaryOf } from './span-list.js';
export {
  archiveSources,
  archiveStalls,
  breakdownNotes,
  breakdownsIn,
  breakdownsOf,
  type ProcessStall,
  type SpanBreakdown,
  snapshotStalls,
} from './timeline/loop-source.js';
export { processLabel } from './timeline/timeline-files.js';
export { httpStatusOf, serviceOf, UNKNOWN_SERVICE } from './trace-facts.js';
export { treesOf } from './trace-trees.js';
