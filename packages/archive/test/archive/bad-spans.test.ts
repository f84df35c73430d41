// A span that is not what a span is, is refused with the name of the field and what stands there; nothing of its batch is taken, and nothing
// is kept as something else.
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { ArchivedSpan, ArchivedValue } from '../../../../src/record/archived-span.js';
import { BufferSink } from '../../../graph/src/container/container-writer.js';
import { BadKeyError, BadValueError } from '../../../graph/src/container/graph-error.js';
import { thrownBy } from '../../../graph/test/container/support/errors.js';
import { writeSegment } from '../../src/segment/write-segment.js';
import { span } from '../segment/support/segments.js';
import { newDirectory, openArchive } from './support/directory.js';

const EVENT = { name: 'e', timeUnixNs: 5n, properties: {} };
const LINK = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceState: '', properties: {} };

/** A span whose field at `path` has another value, or is left out. */
const changed = (path: string, value: unknown, isLeftOut = false): ArchivedSpan => {
  const whole = { ...span(), events: [{ ...EVENT }], links: [{ ...LINK }] };
  const copy = structuredClone(whole) as unknown as Record<string, unknown>;
  const keys = path.split('.');
  const last = keys.pop() as string;
  let at = copy;
  for (const key of keys) at = at[key] as Record<string, unknown>;
  if (isLeftOut) delete at[last];
  else at[last] = value;
  return copy as unknown as ArchivedSpan;
};

const FIELDS = [
  ...['traceId', 'spanId', 'parentSpanId', 'traceState', 'name', 'kind', 'startUnixNs', 'endUnixNs', 'status'],
  ...['status.code', 'status.message', 'properties', 'events', 'links', 'resource', 'resource.properties', 'scope'],
  ...['scope.name', 'scope.version', 'scope.properties', 'events.0', 'events.0.name', 'events.0.timeUnixNs'],
  ...[
    'events.0.properties',
    'links.0',
    'links.0.traceId',
    'links.0.spanId',
    'links.0.traceState',
    'links.0.properties',
  ],
];

test.each(FIELDS)('%s', async (path) => {
  const archive = await openArchive(newDirectory());
  const field = `span.${path.replaceAll('.0', '[0]')}`;
  const bad: [string, ArchivedSpan][] = [undefined, null, 5, true, () => {}, Symbol('x')].map((value) => [
    String(value),
    changed(path, value),
  ]);
  bad.push(['left out', changed(path, undefined, true)]);
  if (!/Ns$/.test(path)) bad.push(['a bigint', changed(path, 5n)]);
  if (/properties|resource|scope$|status$/i.test(path))
    for (const value of [new Map([['a', 1]]), new Date(), [1], 'text']) bad.push([String(value), changed(path, value)]);
  if (/events$|links$/.test(path))
    for (const value of [{}, 'text', new Set()]) bad.push([String(value), changed(path, value)]);
  for (const [what, one] of bad) {
    const takers = [
      () => archive.append([one]),
      () => archive.append([span(), one]),
      () => writeSegment(new BufferSink(), [one]),
    ];
    for (const take of takers) {
      const error = thrownBy(take);
      expect(error instanceof BadValueError || error instanceof BadKeyError, `${what}: ${error}`).toBe(true);
      expect((error as Error).message, what).toContain(field);
    }
  }
  expect(archive.room).toBe(500_000);
});

const EXTRAS: readonly (readonly [place: string, numbers: readonly string[]])[] = [
  ['span', ['flags', 'droppedAttributesCount', 'droppedEventsCount', 'droppedLinksCount']],
  ['span.events[0]', ['droppedAttributesCount']],
  ['span.links[0]', ['flags', 'droppedAttributesCount']],
  ['span.resource', ['droppedAttributesCount', 'schemaUrl']],
  ['span.scope', ['droppedAttributesCount', 'schemaUrl']],
];

test.each(EXTRAS)('flags, counts and schema URLs of %s', async (place, fields) => {
  const archive = await openArchive(newDirectory());
  const path = place.replaceAll('[0]', '.0').replace(/^span\.?/, '');
  const at = (field: string, value: unknown) => changed(path === '' ? field : `${path}.${field}`, value);
  for (const field of fields) {
    const isText = field === 'schemaUrl';
    const bad = isText ? [5, null, true, ['x']] : ['5', -1, 1.5, 2 ** 32, Number.NaN, 5n, null, false, [1], new Date()];
    for (const value of bad) {
      const error = thrownBy(() => archive.append([span(), at(field, value)]));
      expect(error, String(value)).toBeInstanceOf(BadValueError);
      expect((error as Error).message).toMatch(
        `${place}.${field} must be ${isText ? 'a text' : 'a whole number from 0 to 2^32 - 1'}, not `,
      );
    }
    for (const value of [undefined, ...(isText ? ['', 'https://x/y'] : [0, 2 ** 32 - 1])])
      expect(archive.append([at(field, value)])).toBe(1);
  }
});

class Point {
  x = 1;
}
const NO_VALUES: readonly (readonly [string, unknown, string])[] = [
  ['a Date', new Date(), 'toISOString'],
  ['a Date that is none', new Date(Number.NaN), 'a Date'],
  ['a Date of another realm', runInNewContext('new Date()'), 'a Date'],
  ['a Map', new Map(), 'Object.fromEntries'],
  ['a Set', new Set(), '[...set]'],
  ['a regular expression', /x/, 'a RegExp'],
  ['an error', new Error('x'), 'an Error'],
  ['an object of a class', new Point(), 'a Point'],
  ['numbers of another kind', new Float64Array(2), 'a Float64Array'],
  ['a buffer', new ArrayBuffer(2), 'an ArrayBuffer'],
  ['a promise', Promise.resolve(), 'a Promise'],
  ['a number as an object', Object(5), 'a Number'],
  ['an address', new URL('http://localhost'), 'an URL'],
  ['a function', () => {}, 'a function'],
  ['a symbol', Symbol('x'), 'a symbol'],
  ['undefined', undefined, 'undefined'],
];
const PLACES: readonly (readonly [string, (value: ArchivedValue) => Partial<ArchivedSpan>])[] = [
  ['span.properties["a"]', (a) => ({ properties: { a } })],
  ['span.properties["b"][1]', (a) => ({ properties: { b: [1, a] } })],
  ['span.properties["b"]["c"][0]["d"]', (d) => ({ properties: { b: { c: [{ d }] } } })],
  ['span.events[0].properties["a"]', (a) => ({ events: [{ ...EVENT, properties: { a } }] })],
  ['span.links[0].properties["a"]', (a) => ({ links: [{ ...LINK, properties: { a } }] })],
  ['span.resource.properties["a"]', (a) => ({ resource: { properties: { a } } })],
  ['span.scope.properties["a"]', (a) => ({ scope: { name: '', version: '', properties: { a } } })],
];

test.each(NO_VALUES)('%s is not a value, wherever it stands', async (_, value, said) => {
  const archive = await openArchive(newDirectory());
  for (const [field, at] of PLACES) {
    const error = thrownBy(() => archive.append([span(at(value as ArchivedValue))]));
    expect(error).toBeInstanceOf(BadValueError);
    expect((error as BadValueError).code).toBe('ERR_SPANLINE_GRAPH_BAD_VALUE');
    expect((error as Error).message).toContain(`${field}: `);
    expect((error as Error).message).toContain(said);
  }
});

test('objects without a prototype, and of another realm, are objects; bytes of another realm are bytes', async () => {
  const archive = await openArchive(newDirectory());
  const foreign = runInNewContext('({ map: { a: [1, { b: true }] }, bytes: new Uint8Array([1, 2]) })');
  const properties = Object.assign(Object.create(null), {
    own: Object.assign(Object.create(null), { x: 1 }),
    ...foreign,
  });
  expect(archive.append([span({ properties })])).toBe(1);
  await archive.seal();
  expect((await archive.trace(span().traceId))[0].properties).toEqual({
    own: { x: 1 },
    map: { a: [1, { b: true }] },
    bytes: Uint8Array.from([1, 2]),
  });
});

test('a list with a hole', async () => {
  const archive = await openArchive(newDirectory());
  // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested
  const error = thrownBy(() => archive.append([span({ properties: { a: [1, , 2] as never } })]));
  expect((error as Error).message).toContain('span.properties["a"][1]: undefined');
});

test('what is not a span at all', async () => {
  const archive = await openArchive(newDirectory());
  for (const one of [undefined, null, 5, 'span', []])
    expect(thrownBy(() => archive.append([one as never]))).toBeInstanceOf(BadValueError);
});

test.each([undefined, null, 5, 'text', {}])('%j is not a list of spans', async (given) => {
  const archive = await openArchive(newDirectory());
  const error = thrownBy(() => archive.append(given as unknown as ArchivedSpan[]));
  expect(error).toBeInstanceOf(BadValueError);
  expect((error as Error).message).toContain('append takes a list of spans');
});
