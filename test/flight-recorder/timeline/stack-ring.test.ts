// Stacks of a profile share out a part: never more than it, never less, and nothing where no stack is near.
import { describe, expect, test } from 'vitest';
import type { StackStretch } from '../../../src/context/process-state.js';
import { StackRing } from '../../../src/flight-recorder/timeline/native-timeline.js';

const GAP = 12;
const OWN = ['own app.js:1'];

const stretch = (startNs: number, endNs: number, name: string): StackStretch => ({
  startNs,
  endNs,
  frames: [name, 'file:///srv/app.js', 7],
});

const ringOf = (stacks: readonly StackStretch[], maxPieces = 10): StackRing => {
  const ring = new StackRing(maxPieces, GAP);
  ring.add(stacks);
  return ring;
};

const shown = (ring: StackRing, startNs: number, endNs: number): string[] =>
  ring.split({ startNs, endNs, frames: OWN }).map((piece) => `${piece.startNs}-${piece.endNs} ${piece.frames[0]}`);

describe('stacks of a part', () => {
  test('are cut to it', () => {
    const ring = ringOf([stretch(0, 50, 'a'), stretch(50, 90, 'b')]);
    expect(shown(ring, 20, 70)).toEqual(['20-50 a app.js:7', '50-70 b app.js:7']);
  });

  test('have the short time next to them', () => {
    const ring = ringOf([stretch(10, 20, 'a'), stretch(30, 40, 'b')]);
    expect(shown(ring, 0, 50)).toEqual(['0-20 a app.js:7', '20-50 b app.js:7']);
  });

  test('leave longer time to the frames of the part', () => {
    const ring = ringOf([stretch(20, 30, 'a'), stretch(50, 60, 'b')]);
    expect(shown(ring, 0, 100)).toEqual(['0-20 own', '20-30 a', '30-50 own', '50-60 b', '60-100 own'].map(full));
  });

  test('are none where no profile was taken: the part stays as it is', () => {
    const ring = ringOf([stretch(0, 10, 'a'), stretch(60, 70, 'b')]);
    expect(shown(ring, 10, 60)).toEqual(['10-60 own app.js:1']);
    expect(shown(ringOf([]), 10, 60)).toEqual(['10-60 own app.js:1']);
  });

  test('are the newest that there is room for, and the others are counted', () => {
    const ring = ringOf([stretch(0, 20, 'a'), stretch(20, 40, 'b'), stretch(40, 60, 'c')], 2);
    expect(shown(ring, 0, 60)).toEqual(['0-20 own', '20-40 b', '40-60 c'].map(full));
    expect(ring.dropped).toBe(1);
  });
});

const full = (text: string): string => `${text} app.js:${text.endsWith('own') ? 1 : 7}`;
