// Blame names every commit that may have brought a digest and none that did not.
import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { type Blame, blameDigest, blameUntriaged } from '../../src/gold/blame.js';
import type { GoldTile } from '../../src/gold/gold-tile-reader.js';
import { ParamSet } from '../../src/params/param-set.js';

/** A tile drawn as text: one trace a line, `test digests`, a dot is a missing digest. Commits count from `first`. */
const tileOf = (drawing: string, first = 100, isFromStart = false): GoldTile => {
  const traces = drawing
    .trim()
    .split('\n')
    .map((line, i) => {
      const [name, digests] = line.trim().split(' ');
      const params = { name, trace: String(i) };
      return { id: `${i}`, params, options: {}, digests: [...digests].map((digest) => (digest === '.' ? '' : digest)) };
    });
  const commits = traces[0].digests.map((_, i) => first + i);
  return { commits, traces, paramSet: new ParamSet(), isFromStart };
};

const suspects = (blame: Blame | undefined): string | undefined =>
  blame?.suspects.map(({ commit, traces }) => `${commit}x${traces}`).join(' ');

describe('the blame of a digest', () => {
  test.each([
    ['the commit at which it replaces another', 'c aaabb', 'b', '103x1'],
    ['commits without a result before it', 'c aa..b', 'b', '102x1 103x1 104x1'],
    ['only its own commit when nothing came before', 'c ...bb', 'b', '103x1'],
    ['its first appearance, not a later one', 'c aabab', 'b', '102x1'],
    ['one commit that explains all traces', 'c aabb\nc aabb', 'b', '102x2'],
    ['the overlap counts more', 'c a..b\nc aa.b', 'b', '101x1 102x2 103x2'],
    ['no commit behind the first that has it', 'c abbb\nc aaab', 'b', '101x1'],
    ['a trace that cannot narrow it down changes nothing', 'c aabb\nc c..b', 'b', '101x1 102x2'],
    ['other tests do not matter', 'd bbbb\nc aabb', 'b', '102x1'],
    ['a digest that came and went', 'c aaba', 'b', '102x1'],
  ])('%s', (_, drawing, digest, expected) => {
    expect(suspects(blameDigest(tileOf(drawing), 'c', digest))).toBe(expected);
  });

  test('is unknown when the tile starts with it, unless nothing is older', () => {
    expect(blameDigest(tileOf('c bbaa\nc aabb'), 'c', 'b')).toEqual({
      test: 'c',
      digest: 'b',
      suspects: [],
      firstSeen: 100,
      traces: 2,
      mayBeOlder: true,
    });
    expect(suspects(blameDigest(tileOf('c bbaa', 0, true), 'c', 'b'))).toBe('0x1');
  });

  test('does not exist for a digest no trace of the test has', () => {
    expect(blameDigest(tileOf('c aa'), 'c', 'b')).toBeUndefined();
    expect(blameDigest(tileOf('c aa'), 'x', 'a')).toBeUndefined();
    expect(() => blameDigest(tileOf('c a.'), 'c', '')).toThrow(/missing digest/);
  });

  test('of all untriaged digests, by test and digest; the test may be named by another param', () => {
    const tile = tileOf('c aabb\nd aaab\nd a.cc');
    const statusOf = (test: string, digest: string) => (test === 'd' && digest === 'c' ? 'negative' : 'untriaged');
    const list = (blames: readonly Blame[]) =>
      blames.map((blame) => `${blame.test} ${blame.digest} ${suspects(blame)}`);
    expect(list(blameUntriaged(tile, statusOf))).toEqual(['c a ', 'c b 102x1', 'd a ', 'd b 103x1']);
    expect(list(blameUntriaged(tile, () => 'untriaged', 'trace'))).toContain('2 c 101x1 102x1');
    expect(blameUntriaged(tile, () => 'untriaged', 'constructor')).toEqual([]);
  });

  test('names the guilty commit, whatever results are missing', () => {
    const anyTraces = fc.integer({ min: 2, max: 21 }).chain((length) =>
      fc.record({
        guilty: fc.integer({ min: 1, max: length - 1 }),
        // Which commits have a result, of each trace.
        measured: fc.array(fc.array(fc.boolean(), { minLength: length, maxLength: length }), {
          minLength: 1,
          maxLength: 4,
        }),
      }),
    );
    fc.assert(
      fc.property(anyTraces, ({ guilty, measured }) => {
        const lines = measured.map((trace) => {
          const results = trace.map((has, i) => (has ? (i < guilty ? 'a' : 'b') : '.'));
          // A trace that had a result before; without one its first result can only name itself.
          results[0] = 'a';
          return `c ${results.join('')}`;
        });
        const blame = blameDigest(tileOf(lines.join('\n'), 0, true), 'c', 'b');
        fc.pre(blame !== undefined);
        const max = Math.max(...blame.suspects.map(({ traces }) => traces));
        expect(blame.suspects).toContainEqual({ commit: guilty, traces: max });
        // And nothing but the range between the last result before and the first after, over all traces.
        expect(blame.suspects.at(-1)?.commit).toBe(blame.firstSeen);
      }),
      { numRuns: samples(200, 1000, 10_000) },
    );
  });
});
