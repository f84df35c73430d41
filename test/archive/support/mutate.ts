// Damages bytes at random, the same way for the same seed: flips, cuts, repeats, moves, and values that parsers stumble over.
import { seededRandom } from '../../exporters/support/records.js';

const BINARY = [
  [0x00],
  [0x7f],
  [0x80],
  [0xff],
  [0xff, 0xff, 0xff, 0xff, 0x0f],
  Array<number>(10).fill(0xff),
  [0x0a, 0xff, 0x7f],
];
const TEXT = [
  'null',
  '[]',
  '{}',
  '""',
  '-1',
  '1e999',
  '18446744073709551616',
  '"\\ud800"',
  'true',
  '[[',
  '}',
  ',',
  '\u0000',
].map((text) => [...Buffer.from(text)]);

/** An endless source of damaged copies. */
export const mutations = function* (
  samples: readonly Buffer[],
  seed: number,
  isText: boolean,
): Generator<Buffer, never> {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const odd = isText ? TEXT : BINARY;
  for (;;) {
    let bytes = Buffer.from(samples[below(samples.length)]);
    for (let left = 1 + below(4); left > 0; left--) {
      const at = below(bytes.length + 1);
      const to = Math.min(bytes.length, at + below(40));
      const before = bytes.subarray(0, at);
      const behind = bytes.subarray(at);
      switch (below(6)) {
        case 0:
          if (at < bytes.length) bytes[at] ^= 1 << below(8);
          break;
        case 1:
          bytes = Buffer.concat([before, bytes.subarray(to)]);
          break;
        case 2:
          bytes = Buffer.concat([bytes.subarray(0, to), behind]);
          break;
        case 3:
          bytes = Buffer.from(before);
          break;
        case 4:
          bytes = Buffer.concat([before, Buffer.from(odd[below(odd.length)]), behind]);
          break;
        default:
          bytes = Buffer.concat([before, Buffer.from(odd[below(odd.length)]), bytes.subarray(to)]);
      }
    }
    yield bytes;
  }
};
