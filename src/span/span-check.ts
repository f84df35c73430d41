// Turns what a span is given beyond properties into what a row can hold: a kind and a status of the closed sets as flags, links as words
// of ids. Programs without types can give anything; what cannot be meant is counted and left out. Nothing here may throw.
//
// An exception as event properties, by OpenTelemetry's names. Any value can be thrown, so nothing is assumed of it.

import { wrongArgument } from '../local-span/misuse.js';
import { Counter, count } from '../rows/counters.js';
import { guarded, keptProperties, type Properties } from '../rows/property.js';
import { Flag } from '../rows/row-chunk.js';
import type { PendingLink } from '../rows/span-details.js';
import type { SpanContext } from './span-context.js';
import type { Link, SpanKind, StatusCode } from './span-types.js';
import { parseSpanId, parseTraceId } from './traceparent.js';

/** Type, message and stack of a thrown value. A getter or toString that throws leaves its property out. */
export const exceptionProperties = (error: unknown): Properties => {
  if (typeof error !== 'object' || error === null) {
    return { 'exception.type': typeof error, 'exception.message': guarded(() => String(error)) };
  }
  return {
    'exception.type': textOf(error as Error, 'name'),
    'exception.message': textOf(error as Error, 'message'),
    'exception.stacktrace': textOf(error as Error, 'stack'),
  };
};

const textOf = (error: Error, key: 'name' | 'message' | 'stack'): string | undefined => {
  const value: unknown = guarded(() => error[key]);
  return typeof value === 'string' ? value : undefined;
};

/** The message of a thrown value, for a status; undefined when it has none. */
export const errorMessage = (error: unknown): string | undefined =>
  exceptionProperties(error)['exception.message'] as string | undefined;

/** In the order of their numbers in the flags of a row. */
export const KINDS: readonly SpanKind[] = ['internal', 'server', 'client', 'producer', 'consumer'];
export const STATUS_CODES: readonly StatusCode[] = ['unset', 'ok', 'error'];

const STATUS_BITS = Flag.statusMask << Flag.statusShift;

/** The flags with a kind. */
export const withKind = (flags: number, kind: SpanKind): number => {
  const number = KINDS.indexOf(kind);
  if (number >= 0) return (flags & ~Flag.kindMask) | number;
  wrongArgument(`The kind of a span is one of ${KINDS.join(', ')}.`);
  return flags;
};

/** The flags with a status. */
export const withStatus = (flags: number, code: StatusCode, message: unknown): number => {
  const number = STATUS_CODES.indexOf(code);
  if (number < 0 || (message !== undefined && typeof message !== 'string')) {
    wrongArgument("setStatus takes 'ok', 'error' or 'unset' and a text: span.setStatus('error', error.message).");
  }
  return (flags & ~STATUS_BITS) | (Math.max(0, number) << Flag.statusShift);
};

// A program may hand on anything.
const wholeCount = (value: unknown): number =>
  Number.isInteger(value) ? Math.min(Math.max(0, value as number), 0x7fff_ffff) : 0;

/** A link with its fields read once; without ids when they are not ids. */
export const pendingLink = (
  to: SpanContext | Link,
  properties: Properties | (() => Properties) | undefined,
): PendingLink => {
  try {
    const { traceId, spanId, traceState } = to;
    const trace = parseTraceId(traceId);
    const span = parseSpanId(spanId);
    if (trace !== undefined && span !== undefined) {
      return {
        ids: [...trace, ...span],
        traceState: typeof traceState === 'string' ? traceState : '',
        properties: keptProperties(properties ?? (to as Link).properties),
        dropped: wholeCount((to as Link).droppedAttributesCount),
      };
    }
  } catch {
    // Counted below.
  }
  count(Counter.linksInvalid);
  return { ids: null, traceState: '', properties: null, dropped: 0 };
};
