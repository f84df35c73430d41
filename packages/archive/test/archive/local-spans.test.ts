// An archive tells local spans from others, through write-ahead files, segments and merges; and what leaves it is as if it did not know.

import { expect, test } from 'vitest';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import { ObjectView } from '../../../../src/record/object-view.js';
import fc from '../../../../test/support/fast-check.js';
import { Archive } from '../../src/archive.js';
import { checkSpan } from '../../src/check-span.js';
import { encodeJaegerJson, encodeOtlpJson } from '../../src/formats/encode.js';
import { flatSpan } from '../support/any-span.js';
import { newDirectory } from './support/directory.js';

/** Each with ids of its own, every other one local; the largest flags there are among them, and none. */
const SPANS = fc.sample(flatSpan, { numRuns: 60, seed: 11 }).map((span, i): ArchivedSpan => {
  const { flags: _, ...rest } = span;
  return {
    ...rest,
    traceId: (i + 1).toString(16).padStart(32, '0'),
    spanId: (i + 1).toString(16).padStart(16, '0'),
    parentSpanId: '',
    // Spans of a report have no flags of links.
    links: [],
    ...(i % 3 === 0 ? {} : { flags: i % 3 === 1 ? 2 ** 32 - 1 : 0x101 }),
    ...(i % 2 === 0 && { isLocal: true }),
  };
});

const read = async (archive: Archive): Promise<ArchivedSpan[]> => {
  const traces = await archive.traces(SPANS.map(({ traceId }) => traceId));
  return SPANS.flatMap(({ traceId }) => traces.get(traceId) ?? []);
};

test('a local span is one wherever it lies, and its flags are its own', async () => {
  const directory = newDirectory();
  const archive = await Archive.open(directory, { worker: false });
  const half = SPANS.length / 2;
  archive.append(SPANS.slice(0, half));
  expect(await read(archive)).toEqual(SPANS.slice(0, half));
  await archive.seal();
  const views = SPANS.slice(half).map((span) => new ObjectView().of(span));
  const { taken } = archive.appendFinished(
    (i) => views[i],
    0,
    views.length,
    () => false,
  );
  expect(taken).toBe(half);
  expect(await read(archive)).toEqual(SPANS);
  await archive.seal();
  await archive.compact();
  expect((await archive.stats()).segmentsMerged).toBe(2);
  expect(await read(archive)).toEqual(SPANS);
  await archive.close();
});

test('what leaves is the same as for spans of which nothing is known', async () => {
  const archive = await Archive.open(newDirectory(), { worker: false });
  archive.append(SPANS);
  await archive.seal();
  const found = await read(archive);
  const unknown = SPANS.map(({ isLocal: _, ...span }) => span);
  expect(found.some(({ isLocal }) => isLocal)).toBe(true);
  expect(encodeOtlpJson(found)).toBe(encodeOtlpJson(unknown));
  expect(encodeJaegerJson(new Map([['a', found]]))).toBe(encodeJaegerJson(new Map([['a', unknown]])));
  await archive.close();
});

test('isLocal is true or false', () => {
  expect(() => checkSpan(SPANS[0])).not.toThrow();
  expect(() => checkSpan({ ...SPANS[0], isLocal: 'yes' })).toThrow('span.isLocal must be true or false');
});
