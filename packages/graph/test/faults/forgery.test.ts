// A file whose numbers lie under checksums that are right is still answered within the bounds that were declared, and in finite time: an
// answer, which nobody can check, or an error with a type.
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { GraphError } from '../../src/container/graph-error.js';
import { decodeFooter, encodeFooter, encodeToc, FLAG_BLOCKED, FOOTER_BYTES } from '../../src/container/layout.js';
import { anyBelow } from '../support/damage.js';
import { MAX_BLOCK_BYTES, openSample, SAMPLES } from './support/samples.js';

/** Of each kind. */
const FORGERIES = samples(50, 200, 1500);
/** Decoded forms take a small multiple of the block they come from; the walk has a bound of its own. */
const MAX_GROWTH = 64 * MAX_BLOCK_BYTES;

interface Forgery {
  /** Of each section that has a checksum of its own, a byte that is another, if one is. */
  readonly bytes: readonly (readonly [at: number, byte: number] | undefined)[];
  /** A number of the table of contents that is another, if one is. */
  readonly entry?: { readonly at: number; readonly field: string; readonly value: number };
}

/** Numbers that are at the edges of what they may be. */
const anyNumber = fc.constantFrom(0, 1, 127, 255, 65_535, 2 ** 31, 2 ** 32 - 1, 2 ** 40, 2 ** 52);

const anyForgery = (bytes: Buffer): fc.Arbitrary<Forgery> => {
  const { sections } = openSample(bytes).container;
  const inSections = sections.map(({ flags, storedLength }) =>
    (flags & FLAG_BLOCKED) !== 0 || storedLength === 0
      ? fc.constant(undefined)
      : fc.option(fc.tuple(anyBelow(storedLength), fc.nat(255)), { nil: undefined, freq: 2 }),
  );
  const at = anyBelow(sections.length);
  const long = fc.record({ at, field: fc.constantFrom('offset', 'storedLength', 'inflatedLength'), value: anyNumber });
  const short = fc.record({ at, field: fc.constantFrom('codec', 'id', 'graph', 'flags'), value: fc.nat(15) });
  return fc.record({
    bytes: fc.tuple(...inSections),
    entry: fc.option(fc.oneof(long, short), { nil: undefined, freq: 2 }),
  });
};

/** The file with bytes of its sections changed, or the table of contents, and all checksums of both mended. */
const forge = (bytes: Buffer, forgery: Forgery): Buffer => {
  const forged = Buffer.from(bytes);
  const { tocOffset } = decodeFooter(bytes, bytes.length, 'the sample');
  const entries = openSample(bytes).container.sections.map((entry, i) => {
    const change = forgery.bytes[i];
    if (change === undefined) return entry;
    const stored = forged.subarray(entry.offset, entry.offset + entry.storedLength);
    stored[change[0]] = change[1];
    return { ...entry, crc: crc32(stored) };
  });
  if (forgery.entry !== undefined) {
    const { at, field, value } = forgery.entry;
    entries[at] = { ...entries[at], [field]: value };
  }
  const toc = encodeToc(entries);
  toc.copy(forged, tocOffset);
  const footer = { tocOffset, tocLength: toc.length, tocCrc: crc32(toc), fileLength: forged.length };
  encodeFooter(footer).copy(forged, forged.length - FOOTER_BYTES);
  return forged;
};

test.each(Object.keys(SAMPLES))(`${FORGERIES} forgeries of %s`, (kind) => {
  const { bytes, small, large } = SAMPLES[kind]();
  const anySmall = fc.array(anyBelow(small.length), { minLength: 3, maxLength: 3 });
  let refused = 0;
  fc.assert(
    fc.property(anyForgery(bytes), anySmall, anyBelow(large.length), (forgery, asked, last) => {
      const forged = forge(bytes, forgery);
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
        for (const i of asked) within(() => small[i](file));
        within(() => large[last](file));
      });
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MAX_GROWTH);
    }),
    { numRuns: FORGERIES },
  );
  expect(refused).toBeGreaterThan(FORGERIES / 2);
});
