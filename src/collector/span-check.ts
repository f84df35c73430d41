// Turns what a span was given beyond properties into what an encoder can rely on: a kind and a status of the closed sets,
// links with ids. Off the recording path; programs without types can give anything.
import { Counter, count } from '../local-span/counters.js';
import { wrongArgument } from '../local-span/misuse.js';
import type { Properties } from '../local-span/property.js';
import type { Link, SpanKind, SpanStatus } from '../span/span-types.js';
import { toProperties } from '../trace/record.js';
import { cleanObject } from './property-check.js';

const KINDS: ReadonlySet<unknown> = new Set<SpanKind>(['internal', 'server', 'client', 'producer', 'consumer']);
const CODES: ReadonlySet<unknown> = new Set<SpanStatus['code']>(['unset', 'ok', 'error']);
const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0{16})[0-9a-f]{16}$/;

export const cleanKind = (kind: SpanKind): SpanKind => {
  if (KINDS.has(kind)) return kind;
  wrongArgument(`The kind of a span is one of ${[...KINDS].join(', ')}.`);
  return 'internal';
};

export const cleanStatus = (status: SpanStatus): SpanStatus => {
  const { code, message } = status;
  const hasCode = CODES.has(code);
  if (hasCode && (message === undefined || typeof message === 'string')) return status;
  wrongArgument("setStatus takes 'ok', 'error' or 'unset' and a text: span.setStatus('error', error.message).");
  return { code: hasCode ? code : 'unset' };
};

/** Links to what can be no span are counted and left out. */
export const cleanLinks = (links: readonly Link[]): readonly Link[] => {
  const out: Link[] = [];
  for (const link of links) {
    const { traceId, spanId, traceState, properties } = link;
    if (typeof traceId !== 'string' || typeof spanId !== 'string' || !TRACE_ID.test(traceId) || !SPAN_ID.test(spanId)) {
      count(Counter.linksInvalid);
      continue;
    }
    out.push({
      traceId,
      spanId,
      traceState: typeof traceState === 'string' ? traceState : undefined,
      ...cleanProperties(properties),
    });
  }
  return out;
};

const cleanProperties = (properties: Properties | undefined): Pick<Link, 'properties' | 'droppedAttributesCount'> => {
  const { list, dropped } = cleanObject(properties);
  const kept = { properties: list === null ? undefined : toProperties(list) };
  return dropped === 0 ? kept : { ...kept, droppedAttributesCount: dropped };
};
