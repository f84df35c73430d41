// An archive answers as a plain map of spans would, whatever is appended, sealed, merged, flushed and opened again, by one writer or two.
import { expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { Archive } from '../../src/archive.js';
import type { TraceSearch } from '../../src/trace-search.js';
import { anyTakenSpan } from '../segment/support/arbitrary-spans.js';
import { bruteForce, withoutBytes } from '../segment/support/brute-force.js';
import { seededRandom, syntheticSpans } from '../segment/support/synthetic-spans.js';
import { checkAnySteps } from './support/archive-model.js';
import { newDirectory } from './support/directory.js';

const open = (directory: string): Promise<Archive> =>
  Archive.open(directory, { unsortedSpans: 5, segmentSpans: 60, mergedSpans: 500 });

test('any steps', async () => {
  await checkAnySteps(samples(2, 16, 400), () => {
    const directory = newDirectory();
    return { open: () => open(directory), sharesUnsealed: true };
  });
});

test('traces in parts', async () => {
  const directory = newDirectory();
  const archive = await Archive.open(directory, { unsortedSpans: 200, mergedSpans: 3000 });
  const random = seededRandom(42);
  const spans = syntheticSpans({ traces: 300, spansPerTrace: 8, seed: 43 }).map((span) => ({
    ...span,
    properties: { region: random() < 0.5 ? 'eu' : 'us' },
  }));
  const shuffled = spans.map((span) => [random(), span] as const).sort(([a], [b]) => a - b);
  const searches: TraceSearch[] = [
    {},
    { limit: 7 },
    { limit: 1000 },
    { service: 'cart', limit: 50 },
    { name: spans[3].name, status: 'error', limit: 300 },
    { maxDurationNs: 20_000_000n, limit: 300 },
    { maxDurationNs: 12_000_000n, properties: { region: 'eu' }, limit: 5 },
    { toUnixNs: spans[800].startUnixNs, limit: 10 },
    { minDurationNs: 25_000_000n, limit: 300 },
    { fromUnixNs: spans[100].startUnixNs, toUnixNs: spans[100].endUnixNs, limit: 300 },
  ];
  for (const [i, [, span]] of shuffled.entries()) {
    archive.append([span]);
    if (i % 400 === 399) await archive.seal();
    if (i % 800 !== 799) continue;
    if (i === 1599) await archive.compact();
    const known = shuffled.slice(0, i + 1).map(([, one]) => one);
    for (const search of searches)
      expect(withoutBytes(await archive.search(search))).toEqual(bruteForce(known, search));
  }
  expect((await archive.stats()).segments).toBeGreaterThan(1);
  await archive.compact();
  expect((await archive.stats()).segments).toBe(1);
  for (const search of searches) expect(withoutBytes(await archive.search(search))).toEqual(bruteForce(spans, search));
  await archive.close();
});

test('what is known of traces is the same for spans held and in segments; sizes are rounded there', async () => {
  const archive = await Archive.open(newDirectory());
  archive.append(fc.sample(anyTakenSpan, { numRuns: 200, seed: 44 }));
  const buffered = await archive.search({ limit: 1000 });
  await archive.seal();
  const sealed = await archive.search({ limit: 1000 });
  expect(withoutBytes(sealed)).toEqual(withoutBytes(buffered));
  for (const [i, { bytes }] of buffered.entries()) expect(Math.abs(sealed[i].bytes / bytes - 1)).toBeLessThan(0.1);
  await archive.close();
});
