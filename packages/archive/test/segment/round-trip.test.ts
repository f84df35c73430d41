// Whatever spans go into a segment come out again as they were, by trace and in order, each once, the root first.
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { BadKeyError, BadValueError, LimitError } from '../../../graph/src/container/graph-error.js';
import { thrownBy } from '../../../graph/test/container/support/errors.js';
import { Segment } from '../../src/segment/segment.js';
import { anySpans } from './support/arbitrary-spans.js';
import { byId, collect, openSegment, segmentBytes, span, spanIdOf, traceIdOf, tracesOf } from './support/segments.js';
import { seededRandom, syntheticSpans } from './support/synthetic-spans.js';

/** What is wrong with the order of a trace: a span before its parent, cycles aside, or a root that does not stand first. */
const faultsOfOrder = (trace: readonly ArchivedSpan[]): string[] => {
  const parents = new Map(trace.map(({ spanId, parentSpanId }) => [spanId, parentSpanId]));
  const seen = new Set<string>();
  const isInCycle = (id: string): boolean => {
    const met = new Set<string>();
    for (let at: string | undefined = id; at !== undefined; at = parents.get(at)) {
      if (met.has(at)) return true;
      met.add(at);
    }
    return false;
  };
  const faults = trace.flatMap(({ spanId, parentSpanId }) => {
    seen.add(spanId);
    const isEarly = parents.has(parentSpanId) && !seen.has(parentSpanId) && !isInCycle(spanId);
    return isEarly ? [`${spanId} before ${parentSpanId}`] : [];
  });
  const hasRoot = trace.some(({ parentSpanId }) => parentSpanId === '');
  return hasRoot && trace[0].parentSpanId !== '' ? [...faults, 'the root is not first'] : faults;
};

// Compared by Node: a key named constructor is a key like any other to it.
describe('arbitrary spans', () => {
  test('come back by id and by scan', async () => {
    await fc.assert(
      fc.asyncProperty(anySpans, async (spans) => {
        const expected = tracesOf(spans);
        const segment = await openSegment(spans);
        const found = await segment.traces([...expected.keys(), traceIdOf(77)]);
        expect([...found.keys()]).toEqual([...expected.keys()]);
        for (const [id, trace] of expected) {
          const read = found.get(id) ?? [];
          expect(isDeepStrictEqual(byId(read), byId(trace))).toBe(true);
          expect(faultsOfOrder(read)).toEqual([]);
          expect(segment.mayHave(id)).toBe(true);
        }
        const inOrder = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, trace]) => trace);
        expect(isDeepStrictEqual(await collect(segment.scan()), inOrder)).toBe(true);
        expect(segment.info.spanCount).toBe([...expected.values()].flat().length);
        expect(segment.info.traceCount).toBe(expected.size);
        expect(segment.info.doubles).toBe(spans.length - segment.info.spanCount);
      }),
      { numRuns: samples(10, 60, 1500) },
    );
  });

  test('give the same bytes in any order', async () => {
    await fc.assert(
      fc.asyncProperty(anySpans, fc.infiniteStream(fc.nat()), async (spans, keys) => {
        const once = [...tracesOf(spans).values()].flat();
        const shuffled = once.map((one) => [one, keys.next().value as number] as const).sort(([, a], [, b]) => a - b);
        expect(segmentBytes(shuffled.map(([one]) => one)).equals(segmentBytes(once))).toBe(true);
      }),
      { numRuns: samples(4, 16, 400) },
    );
  });
});

test('no spans at all', async () => {
  const segment = await openSegment([]);
  expect(segment.info).toMatchObject({ spanCount: 0, traceCount: 0, startUnixNs: 0n, endUnixNs: 0n, services: [] });
  expect(segment.mayHave(traceIdOf(1))).toBe(false);
  expect(await segment.traces([traceIdOf(1)])).toEqual(new Map());
  expect(await collect(segment.scan())).toEqual([]);
  expect(await segment.summaries()).toEqual([]);
});

test('many groups, in any order', async () => {
  const spans = syntheticSpans({ traces: 400, spansPerTrace: 23, seed: 5 });
  const random = seededRandom(6);
  const expected = tracesOf(spans);
  const segment = await openSegment(
    spans
      .map((one) => [one, random()] as const)
      .sort(([, a], [, b]) => a - b)
      .map(([one]) => one),
  );
  const traces = await collect(segment.scan());
  expect(traces).toHaveLength(400);
  for (const trace of traces) {
    expect(faultsOfOrder(trace)).toEqual([]);
    expect(byId(trace)).toStrictEqual(byId(expected.get(trace[0].traceId) ?? []));
  }
});

describe('large traces', () => {
  const others = syntheticSpans({ traces: 3, spansPerTrace: 10, seed: 7 });

  test('a trace of many groups', async () => {
    const large = syntheticSpans({ traces: 1, spansPerTrace: 9000, seed: 8 });
    const segment = await openSegment([...others, ...large]);
    const [{ traceId }] = large;
    const trace = (await segment.traces([traceId, others[0].traceId])).get(traceId) ?? [];
    expect(byId(trace)).toStrictEqual(byId(large));
    expect(faultsOfOrder(trace)).toEqual([]);
    expect((await collect(segment.scan())).map(({ length }) => length).sort()).toEqual([10, 10, 10, 9000]);
    const summary = (await segment.summaries({ limit: 100 })).find((one) => one.traceId === traceId);
    expect(summary).toMatchObject({ spanCount: 9000, name: large[0].name, isComplete: true });
  });

  test('a property of a megabyte', async () => {
    const body = 'naïve '.repeat(180_000);
    const spans = [
      ...others,
      span({ properties: { body, size: 5 } }),
      span({ spanId: spanIdOf(2), properties: { size: 6 } }),
    ];
    const segment = await openSegment(spans);
    const trace = (await segment.traces([span().traceId])).get(span().traceId) ?? [];
    expect(trace).toHaveLength(2);
    // A megabyte is not a message for a failure.
    expect(trace.some(({ properties }) => properties.body === body && properties.size === 5)).toBe(true);
  });

  test('a span that is too large is refused, and nothing is written', () => {
    const spans = [span({ properties: { body: 'x'.repeat(34 * 1024 * 1024) } })];
    expect(thrownBy(() => segmentBytes(spans))).toBeInstanceOf(LimitError);
  });
});

test('times of coarse clocks take fewer bytes', () => {
  const fine = syntheticSpans({ traces: 100, spansPerTrace: 30, seed: 9 });
  const coarse = (time: bigint): bigint => (time / 1_000_000n) * 1_000_000n;
  const rounded = fine.map((one) => ({
    ...one,
    startUnixNs: coarse(one.startUnixNs),
    endUnixNs: coarse(one.endUnixNs),
  }));
  expect(segmentBytes(rounded).length).toBeLessThan(segmentBytes(fine).length - 3000 * 3);
});

test('names, resources and scopes that are never the same', async () => {
  const spans = Array.from({ length: 3000 }, (_, i) =>
    span({
      traceId: traceIdOf(i % 70),
      spanId: spanIdOf(i + 1),
      name: `GET /users/${i}`,
      resource: { properties: { 'service.name': `shop ${i % 700}`, pod: i % 1500 } },
      scope: { name: `lib ${i % 900}`, version: '', properties: {} },
    }),
  );
  const segment = await openSegment(spans);
  expect(byId((await collect(segment.scan())).flat())).toStrictEqual(byId(spans));
  expect(segment.info.services).toHaveLength(700);
});

test('of equal ids the last is kept', async () => {
  const segment = await openSegment([span({ name: 'first' }), span({ spanId: spanIdOf(5) }), span({ name: 'last' })]);
  const trace = (await segment.traces([span().traceId])).get(span().traceId) ?? [];
  expect(trace.map(({ name }) => name).sort()).toEqual(['GET /query', 'last']);
  expect(segment.info.doubles).toBe(1);
});

test('every compression', async () => {
  const spans = syntheticSpans({ traces: 20, spansPerTrace: 10, seed: 10 }).map((one) => ({
    ...one,
    properties: { a: one.name },
  }));
  for (const compression of ['none', 'deflate', 'zstd'] as const) {
    const segment = await Segment.open(segmentBytes(spans, { compression }));
    expect(byId((await collect(segment.scan())).flat())).toStrictEqual(byId(spans));
  }
});

test('replaced segments are named', async () => {
  const segment = await Segment.open(segmentBytes([span()], { replaces: ['seg-1', 'seg-2'] }));
  expect(segment.info.replaces).toEqual(['seg-1', 'seg-2']);
});

describe('what no span can have is refused', () => {
  const deep = (depth: number): { readonly [key: string]: never } =>
    Object.fromEntries(depth === 0 ? [] : [['a', deep(depth - 1)]]) as { readonly [key: string]: never };

  test.each([
    ['a short trace id', { traceId: 'ab' }, BadKeyError],
    ['a trace id in capitals', { traceId: 'A'.repeat(32) }, BadKeyError],
    ['a span id that is not a number', { spanId: 'zzzzzzzzzzzzzzzz' }, BadKeyError],
    ['a parent of another length', { parentSpanId: '1' }, BadKeyError],
    ['a link to nothing', { links: [{ traceId: '', spanId: '', traceState: '', properties: {} }] }, BadKeyError],
    ['a time before 1970', { startUnixNs: -1n }, BadValueError],
    ['a time that is not a bigint', { endUnixNs: 5 as unknown as bigint }, BadValueError],
    ['an event beyond all time', { events: [{ name: '', timeUnixNs: 2n ** 64n, properties: {} }] }, BadValueError],
    ['an unknown kind', { kind: 'odd' as 'server' }, BadValueError],
    ['an unknown status', { status: { code: 'odd' as 'ok', message: '' } }, BadValueError],
    ['a value that is none', { properties: { a: undefined as unknown as string } }, BadValueError],
    ['undefined', { properties: { a: undefined as unknown as string } }, BadValueError],
    ['endless depth', { properties: { a: deep(70) } }, BadValueError],
  ])('%s', (_, changes, error) => {
    expect(thrownBy(() => segmentBytes([span(), span({ spanId: spanIdOf(9), ...changes })]))).toBeInstanceOf(error);
  });
});
