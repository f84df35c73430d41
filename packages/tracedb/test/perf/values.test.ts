// A value is the one measured last, whatever the order of writing; a missing one is not written; and a call with anything wrong in it
// writes nothing.
import { describe, expect, test } from 'vitest';
import { cleaningRule, type Params } from '../../src/params/param-text.js';
import { PERF_SCHEMA, PerfStore } from '../../src/perf/perf-store.js';
import type { CommitPoints } from '../../src/perf/trace-writer.js';
import { onBothEngines, onLmdb } from '../support/on-both-engines.js';
import { dump } from './support/dump.js';

const params = { arch: 'x86' };

const valueAt = async (perf: PerfStore, commit: number, of: Params = params): Promise<number | undefined> =>
  (await perf.readTraces(perf.tileOf(commit), [of]))[0]?.values[perf.offsetOf(commit)];

onBothEngines('values', (engine) => {
  test.each([
    ['in order', [1000, 2000]],
    ['the other way round', [2000, 1000]],
  ])('written %s: the later measurement counts, with its source', async (_, times) => {
    const perf = await PerfStore.open(await engine.table(PERF_SCHEMA));
    for (const timestampMs of times) {
      await perf.writeTraces(5, [{ params, value: timestampMs }], { source: `at-${timestampMs}`, timestampMs });
    }
    expect(await valueAt(perf, 5)).toBe(2000);
    expect(await perf.source(5, params)).toBe('at-2000');
    // In one call too.
    await perf.write(
      times.map((time) => ({
        commit: 6,
        source: `at-${time}`,
        timestampMs: time,
        points: [{ params, value: time }],
      })),
    );
    expect(await valueAt(perf, 6)).toBe(2000);
    expect(await perf.source(6, params)).toBe('at-2000');
  });

  test('measured at the same time: the one written last counts', async () => {
    const perf = await PerfStore.open(await engine.table(PERF_SCHEMA));
    const points = [1, 2].map((value) => ({ params, value }));
    await perf.writeTraces(5, points, { source: 'a', timestampMs: 1 });
    expect(await valueAt(perf, 5)).toBe(2);
    await perf.writeTraces(5, points.slice(0, 1), { source: 'b', timestampMs: 1 });
    expect(await valueAt(perf, 5)).toBe(1);
    expect(await perf.source(5, params)).toBe('b');
  });

  test('missing ones are not written, nor do they make a trace, a param or a tile', async () => {
    const table = await engine.table(PERF_SCHEMA);
    const perf = await PerfStore.open(table);
    await perf.writeTraces(0, [{ params, value: 1 }], { source: 's', timestampMs: 1 });
    const before = await dump(table);
    const points = [
      { params, value: Number.NaN },
      { params: { arch: 'never' }, value: Number.NaN },
    ];
    expect(await perf.writeTraces(0, points, { source: 's', timestampMs: 2 })).toEqual({
      points: 0,
      missing: 2,
      indexed: 0,
    });
    await perf.writeTraces(1000, points, { source: 's', timestampMs: 2 });
    expect(await dump(table)).toEqual(before);
    expect(await valueAt(perf, 0)).toBe(1);
    expect(await perf.tiles()).toEqual([0]);
  });

  test('of both ends of a tile and of float32', async () => {
    const perf = await PerfStore.open(await engine.table(PERF_SCHEMA), { tileSize: 10 });
    const values = [0, -0, 1e-45, 3.4028234663852886e38, -3.4028234663852886e38, 16777217];
    for (const [i, value] of values.entries()) {
      await perf.write([
        { commit: 10 * i, source: 's', timestampMs: 1, points: [{ params, value }] },
        { commit: 10 * i + 9, source: 's', timestampMs: 1, points: [{ params, value: -value }] },
      ]);
      const [trace] = await perf.readTraces(i, [params]);
      expect(trace?.values).toHaveLength(10);
      expect(trace?.values[0]).toBe(Math.fround(value));
      expect(trace?.values[9]).toBe(-Math.fround(value));
      expect(trace?.values.slice(1, 9).every((one) => Number.isNaN(one))).toBe(true);
    }
  });
});

onLmdb('a call with one wrong commit', (engine) => {
  const good: CommitPoints = { commit: 1, source: 's', timestampMs: 1, points: [{ params, value: 1 }] };
  const withPoint = (point: unknown): CommitPoints => ({ ...good, points: [...good.points, point] as never });
  const tooMany = Object.fromEntries(Array.from({ length: 251 }, (_, i) => [`k${i}`, 'v']));

  describe('writes nothing of any', () => {
    test.each<[string, CommitPoints, string, RegExp]>([
      ['a negative commit', { ...good, commit: -1 }, 'INVALID_INPUT', /number of a commit .* not -1/],
      ['half a commit', { ...good, commit: 1.5 }, 'INVALID_INPUT', /not 1.5/],
      ['no source', { ...good, source: '' }, 'INVALID_INPUT', /source of commit 1/],
      ['a long source', { ...good, source: 'x'.repeat(8193) }, 'INVALID_INPUT', /source of commit 1/],
      ['half a millisecond', { ...good, timestampMs: 0.5 }, 'INVALID_INPUT', /timestampMs of commit 1 .* 0.5/],
      ['a time before 1970', { ...good, timestampMs: -1 }, 'INVALID_INPUT', /timestampMs of commit 1/],
      ['a time after 9999', { ...good, timestampMs: 253402300800000 }, 'INVALID_INPUT', /timestampMs of commit 1/],
      ['null', withPoint({ params: null, value: 1 }), 'INVALID_INPUT', /params must be an object/],
      ['no params', withPoint({ params: {}, value: 1 }), 'INVALID_INPUT', /at least one param/],
      ['a comma', withPoint({ params: { a: 'b,c' }, value: 1 }), 'INVALID_INPUT', /character ","/],
      ['an empty value', withPoint({ params: { a: '' }, value: 1 }), 'INVALID_INPUT', /"a" is empty/],
      ['no text', withPoint({ params: { a: 1 }, value: 1 }), 'INVALID_INPUT', /must be a string/],
      ['too many params', withPoint({ params: tooMany, value: 1 }), 'INVALID_INPUT', /251 params; the limit is 250/],
      [
        'infinity',
        withPoint({ params, value: Number.POSITIVE_INFINITY }),
        'INVALID_INPUT',
        /within float32 .* Infinity/,
      ],
      ['beyond float32', withPoint({ params, value: 3.5e38 }), 'INVALID_INPUT', /within float32/],
      ['a value as text', withPoint({ params, value: '1' }), 'INVALID_INPUT', /must be a number/],
    ])('%s', async (_, bad, code, message) => {
      const table = await engine.table(PERF_SCHEMA);
      const perf = await PerfStore.open(table);
      const before = await dump(table);
      const written = perf.write([good, { ...good, commit: 900 }, bad]);
      await expect(written).rejects.toMatchObject({
        code: `ERR_SPANLINE_${code}`,
        message: expect.stringMatching(message),
      });
      expect(await dump(table)).toEqual(before);
    });
  });

  test('the most params a trace may have fit', async () => {
    const perf = await PerfStore.open(await engine.table(PERF_SCHEMA));
    const max = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`k${i}`, 'v']));
    await perf.writeTraces(0, [{ params: max, value: 7 }], { source: 's', timestampMs: 1 });
    expect(await valueAt(perf, 0, max)).toBe(7);
    expect(await perf.count(0, 'k249=v&k0=v')).toBe(1);
  });

  test('more params than that are refused, also when the tile knows each of them', async () => {
    const perf = await PerfStore.open(await engine.table(PERF_SCHEMA));
    const from = { source: 's', timestampMs: 1 };
    const some = (start: number, count: number): Params =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${start + i}`, 'v']));
    await perf.writeTraces(0, [{ params: some(0, 250), value: 7 }], from);
    await perf.writeTraces(0, [{ params: some(250, 250), value: 7 }], from);
    const before = await dump(perf.table);
    for (const value of [7, Number.NaN]) {
      await expect(perf.writeTraces(0, [{ params: some(0, 251), value }], from)).rejects.toMatchObject({
        code: 'ERR_SPANLINE_INVALID_INPUT',
        message: expect.stringContaining('251 params'),
      });
    }
    expect(await dump(perf.table)).toEqual(before);
  });

  test('what params may have is up to the rule of the store', async () => {
    const perf = await PerfStore.open(await engine.table(PERF_SCHEMA), { rule: cleaningRule('a-z_ /') });
    const from = { source: 's', timestampMs: 1 };
    await perf.writeTraces(0, [{ params: { 'test name': 'draw / fill' }, value: 7 }], from);
    expect(await perf.count(0, 'test%20name=draw%20%2F%20fill')).toBe(1);
    await expect(perf.writeTraces(0, [{ params: { A: 'a' }, value: 7 }], from)).rejects.toMatchObject({
      code: 'ERR_SPANLINE_INVALID_INPUT',
    });
  });
});
