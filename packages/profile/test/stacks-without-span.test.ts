// What a profile tells the event-loop timeline: stacks of JavaScript that no span had, for the time that samples stand for and no longer.
import { describe, expect, test } from 'vitest';
import { SampleKind } from '../src/index.js';
import { stacksWithoutSpan } from '../src/recording.js';
import { labelOf, profileOf, type SampleParts } from './join/support/spans-and-samples.js';

/** Microseconds of the profile; a sample is due each millisecond. */
const shown = (samples: readonly SampleParts[]): string[] => {
  const profile = profileOf(samples);
  const us = (ns: number): number => (ns - profile.startNs) / 1000;
  return stacksWithoutSpan(profile).map(({ startNs, endNs }) => `${us(startNs)}-${us(endNs)}`);
};

describe('stacks without a span', () => {
  test('go from sample to sample, and neighbours of one stack are one', () => {
    expect(shown([{ us: 0 }, { us: 1000 }, { us: 1900 }, { us: 3000 }])).toEqual(['0-3000']);
  });

  test('are not those of spans, of collections or of an idle loop', () => {
    const others: SampleParts[] = [
      { us: 1000, label: labelOf(2) },
      { us: 3000, kind: SampleKind.gc },
      { us: 5000, kind: SampleKind.idle },
    ];
    const work = [0, 2000, 4000, 6000].map((us) => ({ us }));
    const samples = [...others, ...work].sort((a, b) => a.us - b.us);
    expect(shown(samples)).toEqual(['0-1000', '2000-3000', '4000-5000']);
  });

  test('are those of other labels too', () => {
    expect(shown([{ us: 0, label: { query: 'q1' } }, { us: 1000, label: 'lost' }, { us: 2000 }])).toEqual(['0-2000']);
  });

  test('end two intervals after a sample that none follows', () => {
    expect(shown([{ us: 0 }, { us: 9000 }, { us: 10_000 }])).toEqual(['0-2000', '9000-10000']);
  });

  test('are none where samples fall into one moment', () => {
    expect(shown([{ us: 5 }, { us: 5 }])).toEqual([]);
    expect(shown([])).toEqual([]);
  });
});
