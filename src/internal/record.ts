// What packages beside the core use of finished spans: their views, trees of them, conditions that they meet.
export { BatchSpans } from '../exporters/batch-spans.js';
export {
  ArchivedDouble,
  type ArchivedEvent,
  type ArchivedKind,
  type ArchivedLink,
  type ArchivedProperties,
  type ArchivedResource,
  type ArchivedScope,
  type ArchivedSpan,
  type ArchivedStatusCode,
  type ArchivedValue,
  doubleValue,
} from '../record/archived-span.js';
export {
  EXTRA_FIELDS,
  type ExtraField,
  type Extras,
  extrasOf,
  type FinishedLink,
  type FinishedSpan,
  hasRemoteParent,
  type SpanProperties,
} from '../record/finished-span.js';
export { ObjectView, toArchived } from '../record/object-view.js';
export { goJson, NO_PROPERTIES, PropertyDraft, propertyOf, setOwn } from '../record/properties.js';
export { RowProperties, RowView } from '../record/row-view.js';
export { plant, type SpanNode, spanForest, walkTree } from '../record/tree.js';
export { Tag } from '../rows/row-entries.js';
export { internedName, MAX_NAMES } from '../rows/row-text.js';
export { spanHex, traceHex } from '../span/span-context.js';
