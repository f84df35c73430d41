// The references of a span as Jaeger shows them: to its parent and to the spans it is linked with.
import { jaegerKeys } from 'spanline/internal/formats';
import { type ArchivedSpan, propertyOf } from 'spanline/internal/record';
import { NO_TRACE_ID } from '../decode-context.js';

const { REFERENCE_TYPE, shownTraceId } = jaegerKeys;

/** To the parent or to a linked span. */
export interface Reference {
  refType: 'CHILD_OF' | 'FOLLOWS_FROM';
  readonly traceID: string;
  readonly spanID: string;
}

/** The parent first; a link to the parent says of which type that reference is. */
export const referencesOf = ({ traceId, parentSpanId, links }: ArchivedSpan): Reference[] => {
  const references: Reference[] = [];
  if (parentSpanId !== '')
    references.push({ refType: 'CHILD_OF', traceID: shownTraceId(traceId), spanID: parentSpanId });
  for (const link of links) {
    const isChild = propertyOf(link.properties, REFERENCE_TYPE) === 'child_of';
    const refType = isChild ? 'CHILD_OF' : 'FOLLOWS_FROM';
    if (parentSpanId !== '' && link.traceId === traceId && link.spanId === parentSpanId)
      references[0].refType = refType;
    else if (link.traceId !== NO_TRACE_ID)
      references.push({ refType, traceID: shownTraceId(link.traceId), spanID: link.spanId });
  }
  const isInside = ({ traceID }: Reference): boolean => traceID === shownTraceId(traceId);
  const child = references.findIndex((one) => one.refType === 'CHILD_OF' && isInside(one));
  const first = child < 0 ? references.findIndex(isInside) : child;
  if (first > 0) [references[0], references[first]] = [references[first], references[0]];
  return references;
};

/** The span that Jaeger takes for the parent: where there is none, one of the same trace that it is linked with. '' for none. */
export const shownParent = (span: ArchivedSpan): string => {
  const [first] = span.links.length === 0 ? [] : referencesOf(span);
  return first?.traceID === shownTraceId(span.traceId) ? first.spanID : span.parentSpanId;
};
