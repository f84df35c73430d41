// Spans of one trace under one id: Zipkin has both halves of a call so, the client's and the server's, and what makes ids badly has others. All are kept.
// One keeps the id, the others have ids that follow from what they are: the same whenever, wherever and in whatever order they come. Two versions of
// one span, as of a sender who tried again, must stay one.
import { createHash } from 'node:crypto';
import { getOrMake } from 'spanline/internal/base';
import type { ArchivedKind, ArchivedSpan } from 'spanline/internal/record';
import { serviceOf } from './trace-facts.js';

type Sharing = Pick<ArchivedSpan, 'spanId' | 'parentSpanId' | 'kind' | 'resource'>;

const CALLER = '0';
const CALLEE = '2';
const SIDES: Readonly<Record<ArchivedKind, string>> = {
  client: CALLER,
  producer: CALLER,
  // Formats without kinds for what stays inside take the two for one.
  internal: '1',
  unspecified: '1',
  server: CALLEE,
  consumer: CALLEE,
};

/** What two versions of a span have in common, and two halves of a call have not; that of a caller is the least. */
const halfOf = (span: Sharing): string => SIDES[span.kind] + serviceOf(span);

const derivedId = (spanId: string, what: string): string =>
  createHash('sha256').update(`${spanId} ${what}`).digest('hex').slice(0, spanId.length);

const areAlone = (spans: readonly { readonly spanId: string }[]): boolean =>
  new Set(spans.map(({ spanId }) => spanId)).size === spans.length;

/** Whether a span of another resource than its parent's was called by it, or by the half that has, or had, the same id. */
export const mayBeOfHalf = (kind: ArchivedKind, parentKind: ArchivedKind): boolean =>
  SIDES[parentKind] === CALLER && SIDES[kind] !== CALLEE;

const isStray = (span: Sharing, parent: Sharing | undefined): boolean =>
  parent !== undefined && parent.resource !== span.resource && mayBeOfHalf(span.kind, parent.kind);

const byIdOf = <T extends Sharing>(spans: readonly T[]): Map<string, T> =>
  new Map(spans.map((span) => [span.spanId, span]));

/** By id, where spans of several halves have it: the halves, the one that keeps the id first. */
const sharedIds = (spans: readonly Sharing[]): ReadonlyMap<string, readonly string[]> => {
  const halves = new Map<string, Set<string>>();
  for (const span of spans) getOrMake(halves, span.spanId, () => new Set()).add(halfOf(span));
  const shared = new Map<string, readonly string[]>();
  for (const [id, some] of halves) if (some.size > 1) shared.set(id, [...some].sort());
  return shared;
};

/**
 * The spans of one trace, the halves of a call apart: the callee's is a child of the caller's, and has the spans that name the id of both as their parent
 * and are of its service. Halves that were set apart before get what comes later. What needs no change is the same object.
 */
export const halvesApart = <T extends Sharing>(spans: readonly T[], byId = byIdOf(spans)): readonly T[] => {
  const shared = sharedIds(spans);
  const parentOf = (span: T): string => {
    const { parentSpanId } = span;
    const halves = shared.get(parentSpanId);
    if (halves === undefined && !isStray(span, byId.get(parentSpanId))) return parentSpanId;
    const callee = CALLEE + serviceOf(span);
    const id = derivedId(parentSpanId, callee);
    // It is that half itself, set apart before.
    if (id === span.spanId) return parentSpanId;
    return (halves?.indexOf(callee) ?? 0) > 0 || byId.has(id) ? id : parentSpanId;
  };
  return spans.map((span) => {
    const { spanId } = span;
    const half = halfOf(span);
    const [first = half] = shared.get(spanId) ?? [];
    const isCalled = half !== first && first.startsWith(CALLER) && half.startsWith(CALLEE);
    const parentSpanId = isCalled ? spanId : parentOf(span);
    if (half !== first) return { ...span, spanId: derivedId(spanId, half), parentSpanId };
    return parentSpanId === span.parentSpanId ? span : { ...span, parentSpanId };
  });
};

/** The spans of one trace; of those that have all in common but name or start the first keeps the id. */
const versionsApart = (spans: readonly ArchivedSpan[]): readonly ArchivedSpan[] => {
  if (areAlone(spans)) return spans;
  const placeOf = (span: ArchivedSpan): string => `${span.spanId} ${halfOf(span)}`;
  const firsts = new Map<string, ArchivedSpan>();
  for (const span of spans) {
    const { startUnixNs, name } = getOrMake(firsts, placeOf(span), () => span);
    if (span.startUnixNs < startUnixNs || (span.startUnixNs === startUnixNs && span.name < name))
      firsts.set(placeOf(span), span);
  }
  return spans.map((span) => {
    const { startUnixNs, name } = firsts.get(placeOf(span)) ?? span;
    if (startUnixNs === span.startUnixNs && name === span.name) return span;
    return { ...span, spanId: derivedId(span.spanId, `${halfOf(span)} ${span.startUnixNs} ${span.name}`) };
  });
};

/**
 * The spans of one document, of any traces. No sender puts two versions of a span into one: here a span of another name or start is another one. Halves
 * stay under their id, for what belongs to them may come in another document.
 */
export const documentApart = (spans: ArchivedSpan[]): ArchivedSpan[] => {
  if (areAlone(spans)) return spans;
  const byTrace = new Map<string, ArchivedSpan[]>();
  for (const span of spans) getOrMake(byTrace, span.traceId, () => []).push(span);
  return [...byTrace.values()].flatMap(versionsApart);
};

/** The spans of one trace, halves apart, each once: of equal ones the last. */
export const eachOnce = (spans: readonly ArchivedSpan[]): readonly ArchivedSpan[] => {
  const byId = byIdOf(spans);
  if (byId.size === spans.length && !spans.some((span) => isStray(span, byId.get(span.parentSpanId)))) return spans;
  return [...byIdOf(halvesApart(spans, byId)).values()];
};
