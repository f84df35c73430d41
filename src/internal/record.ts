// What packages beside the core use of finished spans: their views, trees of them, conditions that they meet.
export { BatchSpans } from '../exporters/batch-spans.js';
export { archivedView } from '../trace/archived-copy.js';
export { ArchivedDouble } from '../trace/archived-double.js';
export type {
  ArchivedEvent,
  ArchivedKind,
  ArchivedLink,
  ArchivedProperties,
  ArchivedResource,
  ArchivedScope,
  ArchivedSpan,
  ArchivedStatusCode,
  ArchivedValue,
  TraceSearch,
  TraceSummary,
} from '../trace/archived-span.js';
export { ArchivedView } from '../trace/archived-view.js';
export { criticalPath } from '../trace/critical-path.js';
export { EXTRA_FIELDS, type ExtraField, type Extras, extrasOf, hasRemoteParent } from '../trace/extras.js';
export type { FinishedLink, FinishedSpan, SpanProperties } from '../trace/finished-span.js';
export {
  hasSpanConditions,
  hasTimeConditions,
  isMeant,
  meantServices,
  meetsSpanConditions,
  type NamedSearch,
  propertyText,
  type SpanView,
  wantedProperties,
} from '../trace/match.js';
export { type MergedNode, type MergedSide, mergedTree } from '../trace/merged-tree.js';
export { NO_PROPERTIES, PropertyDraft, propertyOf } from '../trace/properties.js';
export { setOwn } from '../trace/record.js';
export { selfTime } from '../trace/self-time.js';
export { eachOnce, halvesApart, mayBeOfHalf } from '../trace/shared-ids.js';
export {
  absentParents,
  httpStatusBy,
  httpStatusOf,
  serviceOf,
  shownName,
  UNKNOWN_SERVICE,
} from '../trace/trace-facts.js';
export { drawShape, type TraceShape, traceShape } from '../trace/trace-shape.js';
export { rootFirst, spanForest, type TraceNode, traceTrees, treesOf, walkTree } from '../trace/tree.js';
