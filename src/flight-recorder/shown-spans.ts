// Spans of a snapshot as they leave it: what only the snapshot contains is in properties. An open span is marked, the first of a trace that
// is recorded here only is marked too, and the resource has the reason of the snapshot. Every writer must go through here, or two files of one
// snapshot disagree.
import type { Resource } from '../collector/reporter.js';
import { OWN_SCOPE, ownResource } from '../formats/library.js';
import type { ArchivedSpan } from '../record/archived-span.js';
import { ObjectView, toArchived } from '../record/object-view.js';
import type { SpanRecord } from '../record/record.js';
import type { Properties } from '../rows/property.js';
import type { Snapshot, SnapshotSpan, SnapshotTrace } from './snapshot-types.js';

/** On a span that had not ended when the snapshot was taken. */
export const OPEN_KEY = 'spanline.open';
/** On the first span of a trace that is recorded here only: false. */
export const SAMPLED_KEY = 'spanline.sampled';
const REASON_KEY = 'spanline.snapshot.reason';
const TEXT_KEY = 'spanline.snapshot.text';

/** W3C "sampled" among the flags of a span. */
const SAMPLED_FLAG = 1;

/** The owner of the spans, and the reason of the snapshot. */
export const shownResource = ({ resource: { serviceName, attributes }, reason }: Snapshot): Resource => ({
  serviceName,
  attributes: { ...attributes, [REASON_KEY]: reason.kind, [TEXT_KEY]: reason.text },
});

/** The i-th span of a trace. */
export const shownRecord = ({ spans, isSampled }: SnapshotTrace, i: number): SpanRecord => {
  const { record, isOpen }: SnapshotSpan = spans[i];
  if (!isOpen && (isSampled || i > 0)) return record;
  const more: Record<string, boolean> = {};
  if (isOpen) more[OPEN_KEY] = true;
  if (!isSampled && i === 0) more[SAMPLED_KEY] = false;
  return record.withProperties(more satisfies Properties);
};

/** What {@link shownSpan} looks through. */
export const shownView = (snapshot: Snapshot): ObjectView =>
  new ObjectView(ownResource(shownResource(snapshot)), OWN_SCOPE);

/** The i-th span of a trace as every format of others takes it; `view` is that of the whole snapshot. */
export const shownSpan = (trace: SnapshotTrace, i: number, view: ObjectView): ArchivedSpan => {
  const span = toArchived(view.of(shownRecord(trace, i)));
  // Others got this flag, too.
  return trace.isSampled ? span : { ...span, flags: (span.flags ?? 0) & ~SAMPLED_FLAG };
};
