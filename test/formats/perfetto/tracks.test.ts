// Whatever spans a trace has, two that share a track nest, the inner one below the outer one; local spans stay with their parent; and there are
// no more tracks than spans that overlap.

import { expect, test } from 'vitest';
import { type TrackSpan, Tracks } from '../../../src/formats/perfetto/tracks.js';
import fc from '../../support/fast-check.js';
import { samples } from '../../support/samples.js';

interface Placed {
  readonly tracks: readonly number[];
  /** `begin 0`, `end 0`, by track. */
  readonly steps: readonly (readonly string[])[];
}

const place = (spans: readonly TrackSpan[]): Placed => {
  const tracks = new Tracks(spans);
  const steps: string[][] = [];
  const ended = (i: number, track: number): void => {
    steps[track].push(`end ${i}`);
  };
  const placed = spans.map((_, i) => {
    const track = tracks.place(i, ended);
    steps[track] ??= [];
    steps[track].push(`begin ${i}`);
    return track;
  });
  for (const _ of tracks.end(ended));
  return { tracks: placed, steps };
};

const span = (startNs: number, endNs: number, parent = -1, isLocal = false): TrackSpan => ({
  startNs,
  endNs,
  parent,
  isLocal,
});

test('one child after another is drawn inside its parent', () => {
  const spans = [span(0, 10), span(1, 3, 0), span(3, 5, 0), span(4, 5, 2)];
  expect(place(spans)).toEqual({
    tracks: [0, 0, 0, 0],
    steps: [['begin 0', 'begin 1', 'end 1', 'begin 2', 'begin 3', 'end 3', 'end 2', 'end 0']],
  });
});

test('children that overlap take tracks of their own, and a track is used again', () => {
  const spans = [span(0, 10), span(1, 4, 0), span(2, 5, 0), span(4, 6, 0), span(5, 9, 0), span(7, 8, 4)];
  expect(place(spans).tracks).toEqual([0, 1, 2, 1, 2, 2]);
});

test('a local span stays on the track of its parent while asynchronous ones overlap it', () => {
  const spans = [span(0, 10), span(1, 8, 0), span(2, 3, 0, true), span(2, 3, 2, true)];
  expect(place(spans).tracks).toEqual([0, 1, 0, 0]);
});

test('a child that outlives its parent is beside it', () => {
  expect(place([span(0, 5), span(1, 6, 0)]).tracks).toEqual([0, 1]);
});

test('an open parent holds its children, and its track to the end', () => {
  const spans = [span(0, Number.POSITIVE_INFINITY), span(1, 3, 0), span(4, Number.POSITIVE_INFINITY, 0), span(5, 6)];
  expect(place(spans).tracks).toEqual([0, 0, 0, 1]);
});

const anySpans = fc
  .array(
    fc.record({
      startNs: fc.nat(50),
      length: fc.oneof(fc.nat(20), fc.constant(Number.POSITIVE_INFINITY)),
      up: fc.nat(40),
      isLocal: fc.boolean(),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((list) =>
    list
      .toSorted((a, b) => a.startNs - b.startNs)
      // Parents anywhere, circles and those that come later too.
      .map(({ startNs, length, up, isLocal }, i, { length: count }) => {
        const parent = up >= count || up === i ? -1 : up;
        return span(startNs, startNs + length, parent, isLocal);
      }),
  );

test('spans that share a track nest, and only inside their ancestors', () => {
  fc.assert(
    fc.property(anySpans, (spans) => {
      const { steps } = place(spans);
      const seen: number[] = [];
      for (const track of steps) {
        const stack: number[] = [];
        for (const step of track) {
          const [what, text] = step.split(' ');
          const i = Number(text);
          if (what === 'end') {
            expect(stack.pop()).toBe(i);
            continue;
          }
          seen.push(i);
          const above = stack.at(-1);
          if (above !== undefined) {
            expect(spans[i].parent).toBe(above);
            expect(spans[i].endNs).toBeLessThanOrEqual(spans[above].endNs);
            expect(spans[i].startNs).toBeGreaterThanOrEqual(spans[above].startNs);
          }
          stack.push(i);
        }
        expect(stack).toEqual([]);
      }
      expect(seen.sort((a, b) => a - b)).toEqual(spans.map((_, i) => i));
    }),
    { numRuns: samples(300, 2000, 20_000) },
  );
});
