// What differs from the official instrumentations on purpose, with a reason each. A line that nothing needs any more fails the test, and so does a
// difference that stands in no line.
import type { Difference, SpanTree } from '../support/span-trees.js';

/** Spans that are theirs alone: what runs below them stands below the span above. */
export const THEIRS_ALONE: readonly (readonly [library: string, name: RegExp, reason: string])[] = [
  ['express', /./, 'the request is the span, and express names its route'],
  ['fastify', /./, 'the request is the span, and fastify names its route'],
  ['pg', /^pg-pool\.connect|^pg\.connect/, 'what waits for a connection is seen in the gap before the query'],
];

export const isTheirsAlone = ({ library, name }: SpanTree): boolean =>
  THEIRS_ALONE.some(([of, pattern]) => of === library && pattern.test(name));

/** Who has it: one of them, or both with different values. */
export type Side = 'ours' | 'official' | 'both';

export const sideOf = ({ field, ours, official }: Difference): Side => {
  if (field === 'events') return ours === '' ? 'official' : 'ours';
  if (official === undefined) return 'ours';
  return ours === undefined ? 'official' : 'both';
};

const NO_VALUES = 'arguments, keys and values written into a query are what users typed';
const STABLE = 'the stable convention; theirs has it not, or not yet';
const NO_MESSAGES = 'exception events are deprecated by the convention, and their texts hold values';

export const TABLE: readonly (readonly [library: string, kind: string, field: string, side: Side, reason: string])[] = [
  ['http', 'server', 'network.peer.port', 'both', 'of the connection, another in each run'],
  ['http', 'server', 'error.type', 'ours', STABLE],
  ['http', 'server', 'http.response.status_code', 'official', 'the client was gone before a status was sent'],
  ['http', 'client', 'error.type', 'ours', STABLE],
  ['http', 'client', 'error.type', 'both', 'the code of the error tells more than its class'],
  ['http', 'client', 'events', 'official', NO_MESSAGES],
  ['undici', 'client', 'events', 'official', NO_MESSAGES],
  ['undici', 'client', 'http.request.method_original', 'official', 'for methods that are not known, by the convention'],
  ['undici', 'client', 'url.path', 'official', 'part of url.full'],
  ['undici', 'client', 'url.query', 'official', 'part of url.full'],
  ['undici', 'client', 'url.scheme', 'official', 'part of url.full'],
  ['undici', 'client', 'user_agent.original', 'official', 'our own, the same in every span'],
  ...['pg', 'redis', 'ioredis'].flatMap((library) =>
    [
      ['name', 'both', STABLE] as const,
      ['db.query.text', 'both', NO_VALUES] as const,
      ['db.query.summary', 'ours', STABLE] as const,
    ].map(([field, side, reason]) => [library, 'client', field, side, reason] as const),
  ),
  ...['pg', 'redis'].flatMap((library) =>
    [
      ['events', 'official', NO_MESSAGES] as const,
      ['error.type', 'ours', STABLE] as const,
      ['db.response.status_code', 'ours', STABLE] as const,
    ].map(([field, side, reason]) => [library, 'client', field, side, reason] as const),
  ),
  ['pg', 'client', 'db.operation.name', 'ours', STABLE],
  ['pg', 'client', 'db.postgresql.plan', 'official', 'the name of a prepared statement is of no convention'],
  ['redis', 'client', 'db.namespace', 'ours', STABLE],
  ['ioredis', 'client', 'db.namespace', 'ours', STABLE],
  ['ioredis', 'client', 'db.operation.name', 'both', 'commands are written in capitals, whoever sends them'],
];

/** As in a line of the table. */
export const lineOf = (difference: Difference): string =>
  [difference.library, difference.kind, difference.field, sideOf(difference)].join(' ');

const LINES = new Set(TABLE.map(([...line]) => line.slice(0, 4).join(' ')));

/** Whether a line of the table is about it. */
export const isKnown = (difference: Difference): boolean => LINES.has(lineOf(difference));
