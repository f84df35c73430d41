// Damages bytes: flips, cuts, repeats, moves, and values that parsers stumble over.
import fc from '../../../../test/support/fast-check.js';

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

type Edit = (bytes: Buffer, at: number, to: number) => Buffer;

/** One change of a stretch. */
const editOf = (odd: readonly (readonly number[])[]): fc.Arbitrary<Edit> => {
  const flip = fc.nat(7).map(
    (bit): Edit =>
      (bytes, at) => {
        const flipped = Buffer.from(bytes);
        if (at < flipped.length) flipped[at] ^= 1 << bit;
        return flipped;
      },
  );
  const word = fc.constantFrom(...odd);
  return fc.oneof(
    flip,
    // Left out, doubled, cut off behind, an odd value put in, and put in its place.
    fc.constant<Edit>((bytes, at, to) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)])),
    fc.constant<Edit>((bytes, at, to) => Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)])),
    fc.constant<Edit>((bytes, at) => Buffer.from(bytes.subarray(0, at))),
    word.map(
      (value): Edit =>
        (bytes, at) =>
          Buffer.concat([bytes.subarray(0, at), Buffer.from(value), bytes.subarray(at)]),
    ),
    word.map(
      (value): Edit =>
        (bytes, at, to) =>
          Buffer.concat([bytes.subarray(0, at), Buffer.from(value), bytes.subarray(to)]),
    ),
  );
};

/** Damaged copies of `originals`: one to four changes anywhere. */
export const damagedBytes = (originals: readonly Buffer[], isText: boolean): fc.Arbitrary<Buffer> => {
  const place = fc.noBias(fc.nat(2 ** 30));
  const edit = fc.record({ place, length: fc.noBias(fc.nat(39)), edit: editOf(isText ? TEXT : BINARY) });
  return fc
    .tuple(fc.constantFrom(...originals), fc.array(edit, { minLength: 1, maxLength: 4, size: 'max' }))
    .map(([original, edits]) =>
      edits.reduce((bytes, { place, length, edit }) => {
        const at = place % (bytes.length + 1);
        return edit(bytes, at, Math.min(bytes.length, at + length));
      }, original),
    );
};
