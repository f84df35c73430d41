// Finds what is wrong with a span, and says it by the field's name: of a span that could not be encoded, and of each that `writeSegment` is given;
// and appends spans of others, of a file for instance, without those that an archive can never keep. One bad span must not cost the others, none may
// be lost without being counted, and a good one must pass.

import { BadKeyError, BadValueError, GraphError, LimitError } from '@spanline/graph';
import type { ArchivedSpan } from 'spanline/internal/record';
import { checkExtras } from './stored-extras.js';
import { isTime, KINDS, STATUS_CODES } from './values/fields.js';
import { describe, isPlainObject, MAX_DEPTH, typeOf } from './values/values.js';

type Fields = Readonly<Record<string, unknown>>;

const wrong = (field: string, expected: string, value: unknown): BadValueError =>
  new BadValueError(`${field} must be ${expected}, not ${describe(value)}`);

const checkObject = (value: unknown, field: string, expected: string): Fields => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(field, expected, value);
  return value as Fields;
};

const checkText = (value: unknown, field: string): void => {
  if (typeof value !== 'string') throw wrong(field, 'a text', value);
};

const checkTime = (value: unknown, field: string): void => {
  if (typeof value !== 'bigint') throw wrong(field, 'Unix nanoseconds as a bigint', value);
  if (!isTime(value)) throw new BadValueError(`${field} must be from 0 to 2^64 - 1, not ${value}`);
};

/** A text as it is. */
const shown = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value) : describe(value));

const checkId = (value: unknown, field: string, digits: number): void => {
  if (typeof value !== 'string' || value.length !== digits || /[^0-9a-f]/.test(value))
    throw new BadKeyError(`${field} must be ${digits} hexadecimal digits in lower case, not ${shown(value)}`);
};

const checkOneOf = (value: unknown, field: string, known: readonly string[]): void => {
  if (!known.includes(value as string))
    throw new BadValueError(`${field} must be one of ${known.join(', ')}, not ${shown(value)}`);
};

const checkValue = (value: unknown, field: string, depth: number): void => {
  try {
    typeOf(value as string);
  } catch (error) {
    throw error instanceof GraphError ? new BadValueError(`${field}: ${error.message}`) : error;
  }
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return;
  if (Array.isArray(value)) {
    // By number: a list may have holes.
    for (let i = 0; i < value.length; i++) checkValue(value[i], `${field}[${i}]`, depth + 1);
  } else if (isPlainObject(value)) {
    for (const [key, item] of Object.entries(value)) checkValue(item, `${field}[${JSON.stringify(key)}]`, depth + 1);
  }
};

const checkProperties = (value: unknown, field: string): void => {
  if (!isPlainObject(value)) throw wrong(field, 'an object of keys and values', value);
  checkValue(value, field, 0);
};

const checkList = (value: unknown, field: string, check: (item: Fields, field: string) => void): void => {
  if (!Array.isArray(value)) throw wrong(field, 'a list', value);
  for (let i = 0; i < value.length; i++) {
    const place = `${field}[${i}]`;
    check(checkObject(value[i], place, 'an object'), place);
  }
};

/** Throws `BadKeyError` or `BadValueError` with the name of the first field that no span can have so; nothing when all are as they should be. */
export const checkSpan = (span: unknown): void => {
  const { traceId, spanId, parentSpanId, traceState, name, kind, startUnixNs, endUnixNs, status, ...rest } =
    checkObject(span, 'span', 'an object');
  checkId(traceId, 'span.traceId', 32);
  checkId(spanId, 'span.spanId', 16);
  if (parentSpanId !== '') checkId(parentSpanId, "span.parentSpanId, where it is not '',", 16);
  checkText(traceState, 'span.traceState');
  checkText(name, 'span.name');
  checkOneOf(kind, 'span.kind', KINDS);
  checkTime(startUnixNs, 'span.startUnixNs');
  checkTime(endUnixNs, 'span.endUnixNs');
  const { code, message } = checkObject(status, 'span.status', 'an object with code and message');
  checkOneOf(code, 'span.status.code', STATUS_CODES);
  checkText(message, 'span.status.message');
  checkProperties(rest.properties, 'span.properties');
  checkList(rest.events, 'span.events', (event, field) => {
    checkText(event.name, `${field}.name`);
    checkTime(event.timeUnixNs, `${field}.timeUnixNs`);
    checkProperties(event.properties, `${field}.properties`);
    checkExtras(event, field);
  });
  checkList(rest.links, 'span.links', (link, field) => {
    checkId(link.traceId, `${field}.traceId`, 32);
    checkId(link.spanId, `${field}.spanId`, 16);
    checkText(link.traceState, `${field}.traceState`);
    checkProperties(link.properties, `${field}.properties`);
    checkExtras(link, field);
  });
  const resource = checkObject(rest.resource, 'span.resource', 'an object with properties');
  checkProperties(resource.properties, 'span.resource.properties');
  checkExtras(resource, 'span.resource');
  const scope = checkObject(rest.scope, 'span.scope', 'an object with name, version and properties');
  checkText(scope.name, 'span.scope.name');
  checkText(scope.version, 'span.scope.version');
  checkProperties(scope.properties, 'span.scope.properties');
  checkExtras(scope, 'span.scope');
  checkExtras(rest, 'span');
  if (rest.isLocal !== undefined && typeof rest.isLocal !== 'boolean')
    throw wrong('span.isLocal', 'true or false', rest.isLocal);
};

/** What became of spans: those behind the last one taken found no room, and may be given again. */
export interface Appended {
  /** Spans looked at, in order: taken or refused for good. */
  done: number;
  taken: number;
  /** Spans that cannot be kept. */
  invalid: number;
  /** Why the first of them cannot. */
  reason?: string;
}

/** Takes spans in order and gives their number; the rest found no room. Throws for the first when it can never be kept. */
interface AppendTo {
  append(spans: readonly ArchivedSpan[]): number;
}

/** Whether an error says that a span can never be kept. */
export const isInvalid = (error: unknown): error is Error =>
  error instanceof BadKeyError || error instanceof BadValueError || error instanceof LimitError;

/** Append what can be kept; stops where the archive has no more room. */
export const appendValid = (archive: AppendTo, spans: readonly ArchivedSpan[]): Appended => {
  const result: Appended = { done: 0, taken: 0, invalid: 0 };
  // Halves, until the bad ones are found: most batches have none.
  const waiting: (readonly ArchivedSpan[])[] = [spans];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (part.length === 0) continue;
    try {
      const taken = archive.append(part);
      result.taken += taken;
      result.done += taken;
      if (taken < part.length) return result;
    } catch (error) {
      if (!isInvalid(error)) throw error;
      if (part.length === 1) {
        result.invalid++;
        result.done++;
        result.reason ??= error.message;
      } else {
        const middle = part.length >> 1;
        waiting.push(part.slice(middle), part.slice(0, middle));
      }
    }
  }
  return result;
};

/** Spans given to the archive at a time. */
const BATCH_SPANS = 10_000;

/** Gives all spans to the archive, which writes a segment when it holds enough; says how many it can never keep, and why. */
export const appendAll = async (
  archive: AppendTo & { seal(): Promise<void> },
  spans: readonly ArchivedSpan[],
): Promise<Pick<Appended, 'invalid' | 'reason'>> => {
  const all: Pick<Appended, 'invalid' | 'reason'> = { invalid: 0 };
  for (let at = 0; at < spans.length; ) {
    const { done, invalid, reason } = appendValid(archive, spans.slice(at, at + BATCH_SPANS));
    at += done;
    all.invalid += invalid;
    all.reason ??= reason;
    // Rejects when the disk takes none.
    if (done === 0) await archive.seal();
  }
  return all;
};
