// The options that choose traces, and the search of the archive they stand for. A wrong value ends the command before anything is read.

import type { TraceSearch } from '@spanline/archive';
import { durationNs, endTimeNs, HttpError, timeNs } from '@spanline/archive/internal/query-values';
import { InvalidArgumentError } from 'commander';
import { options, type Values } from '../command.js';
import { wrongUsage } from '../exit-code.js';
import { wholeNumber } from '../options.js';

/** The readers are those of the server's parameters; what they refuse is wrong usage here. */
const readBy =
  (read: (parameter: readonly [string, string]) => bigint, example: string) =>
  (text: string): bigint => {
    try {
      return read(['', text]);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      throw new InvalidArgumentError(`write ${example}.`);
    }
  };

const duration = readBy(durationNs, 'a duration such as 1.5s, 200ms or 2m30s');

const TIME_EXAMPLE = 'a time such as 2026-01-31T12:00:00Z, a day such as 2026-01-31, or 15m for as long ago';

/** Unix nanoseconds of a time as people write it. */
export const time = readBy(timeNs, TIME_EXAMPLE);

/** The same of the end of a stretch: a day means all of it. */
export const endTime = readBy(endTimeNs, TIME_EXAMPLE);

/** A key, in which `\=` is `=` and `\\` a backslash, and behind the first other `=` the value as it is. */
const property = (text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => {
  let key = '';
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '=' && key !== '') return { ...before, [key]: text.slice(at + 1) };
    if (text[at] === '\\' && (text[at + 1] === '=' || text[at + 1] === '\\')) at++;
    key += text[at];
  }
  throw new InvalidArgumentError('write key=value; where a key has = in it write \\=.');
};

/** Traces in one answer of the archive. */
export const MAX_LIMIT = 100_000;

/** The options that choose traces. */
export const SEARCH = options({
  from: [
    '--from <time>',
    'traces that are not over before: 2026-01-31T12:00:00Z, 2026-01-31, or 15m for as long ago',
    time,
  ],
  to: ['--to <time>', 'traces that have begun by then; a day means all of it', endTime],
  service: ['--service <name>', 'a span is of this service'],
  name: ['--name <name>', 'a span has this name'],
  min: ['--min <duration>', 'traces at least so long: 1.5s, 200ms', duration],
  max: ['--max <duration>', 'traces at most so long', duration],
  spanMin: ['--span-min <duration>', 'a span is at least so long', duration],
  spanMax: ['--span-max <duration>', 'a span is at most so long', duration],
  status: ['--status <status>', 'a span has this status', ['error', 'ok', 'unset']],
  property: [
    '--property <key=value>',
    'a span has this property, or its resource, scope or an event; \\= is = in a key; repeatable',
    property,
  ],
  limit: ['-n, --limit <traces>', 'no more traces than this, the newest', wholeNumber(1, MAX_LIMIT)],
});

type SearchOptions = Values<typeof SEARCH>;

/** The search the options stand for. */
export const searchOf = (given: SearchOptions): TraceSearch => {
  const { from, to, service, name, min, max, spanMin, spanMax, status, property: properties, limit } = given;
  if (from !== undefined && to !== undefined && from > to) throw wrongUsage('--from must be before --to');
  if (min !== undefined && max !== undefined && min > max) throw wrongUsage('--min must not be above --max');
  if (spanMin !== undefined && spanMax !== undefined && spanMin > spanMax)
    throw wrongUsage('--span-min must not be above --span-max');
  return {
    fromUnixNs: from,
    toUnixNs: to,
    service,
    name,
    minDurationNs: min,
    maxDurationNs: max,
    minSpanDurationNs: spanMin,
    maxSpanDurationNs: spanMax,
    status,
    properties,
    limit,
  };
};

/** Whether any option chooses among the traces. */
export const isSearch = (given: SearchOptions): boolean =>
  Object.values(searchOf(given)).some((value) => value !== undefined);
