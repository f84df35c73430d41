// A file whose numbers lie under checksums that are right is still answered within the bounds that were declared, and in finite time: an
// answer, which nobody can check, or an error with a type.
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { GraphError } from '../../../src/container/graph-error.js';
import { decodeFooter, encodeFooter, encodeToc, FLAG_BLOCKED, FOOTER_BYTES } from '../../../src/container/layout.js';
import { below, type Random, seeded } from '../dictionary/support/random-keys.js';
import { MAX_BLOCK_BYTES, openSample, SAMPLES } from './support/samples.js';

const FORGERIES = 1500;
/** Decoded forms take a small multiple of the block they come from; the walk has a bound of its own. */
const MAX_GROWTH = 64 * MAX_BLOCK_BYTES;

/** Numbers that are at the edges of what they may be. */
const anyNumber = (random: Random): number =>
  [0, 1, 127, 255, 65_535, 2 ** 31, 2 ** 32 - 1, 2 ** 40, 2 ** 52][below(random, 9)];

/** The file with bytes of its sections changed, or the table of contents, and all checksums of both mended. */
const forge = (bytes: Buffer, random: Random): Buffer => {
  const forged = Buffer.from(bytes);
  const { tocOffset } = decodeFooter(bytes, bytes.length, 'the sample');
  const entries = openSample(bytes).container.sections.map((entry) => {
    if ((entry.flags & FLAG_BLOCKED) !== 0 || random() < 0.5) return entry;
    const { offset, storedLength } = entry;
    const stored = forged.subarray(offset, offset + storedLength);
    stored[below(random, storedLength)] = below(random, 256);
    return { ...entry, crc: crc32(stored) };
  });
  const changed = below(random, entries.length);
  const field = (['offset', 'storedLength', 'inflatedLength', 'codec', 'id', 'graph', 'flags'] as const)[
    below(random, 14)
  ];
  if (field !== undefined) {
    const isShort = ['codec', 'id', 'graph', 'flags'].includes(field);
    entries[changed] = { ...entries[changed], [field]: isShort ? below(random, 16) : anyNumber(random) };
  }
  const toc = encodeToc(entries);
  toc.copy(forged, tocOffset);
  const footer = { tocOffset, tocLength: toc.length, tocCrc: crc32(toc), fileLength: forged.length };
  encodeFooter(footer).copy(forged, forged.length - FOOTER_BYTES);
  return forged;
};

test.each(Object.keys(SAMPLES))(`${FORGERIES} forgeries of %s`, (kind) => {
  const sample = SAMPLES[kind]();
  const random = seeded(91);
  let refused = 0;
  for (let i = 0; i < FORGERIES; i++) {
    const forged = forge(sample.bytes, random);
    const before = process.memoryUsage().arrayBuffers;
    const within = (action: () => void): void => {
      try {
        action();
      } catch (error) {
        if (!(error instanceof GraphError)) throw error;
        refused++;
      }
    };
    within(() => {
      const file = openSample(forged);
      for (let n = 0; n < 3; n++) within(() => sample.small[below(random, sample.small.length)](file));
      within(() => sample.large[i % sample.large.length](file));
    });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MAX_GROWTH);
  }
  expect(refused).toBeGreaterThan(FORGERIES / 2);
});
