// Bit flips, cuts and worse over graph files of three kinds: never a wrong answer, never a hang, never an error without a type, never more memory
// than the bound; and one damaged block leaves all others readable.
import { beforeAll, describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { sampleOf, samples } from '../../../../test/support/samples.js';
import { CorruptError, GraphError } from '../../src/container/graph-error.js';
import { FLAG_BLOCKED } from '../../src/container/layout.js';
import { anyBelow, anyDamage, anyFlips, damaged } from '../support/damage.js';
import { MAX_BLOCK_BYTES, openSample, type Question, SAMPLES, type Sample } from './support/samples.js';

/** Of each kind. A fault that one damage in 300 shows is found with a chance of 96 % by the full sample, of 99.99 % by the nightly one. */
const DAMAGES = samples(30, 160, 3400);
/** The file itself is in memory, and what is decoded of it is: nothing beyond that. */
const MAX_GROWTH = 16 * MAX_BLOCK_BYTES;

/** The error that is thrown, if it has a type; another fails the test. */
const refusalOf = (action: () => void): GraphError | undefined => {
  try {
    action();
  } catch (error) {
    if (error instanceof GraphError) return error;
    throw error;
  }
  return undefined;
};

const ask = ({ answers }: Sample, question: Question, file: ReturnType<typeof openSample>): GraphError | undefined => {
  let answer: string | undefined;
  const refusal = refusalOf(() => {
    answer = question(file);
  });
  if (refusal === undefined && answer !== answers.get(question)) expect(answer).toBe(answers.get(question));
  return refusal;
};

describe.each(Object.keys(SAMPLES))('%s', (kind) => {
  let sample: Sample;
  beforeAll(() => {
    sample = SAMPLES[kind]();
  });

  test(`${DAMAGES} damages: right answers, or errors with a type, within the bound`, () => {
    const { bytes, small, large } = sample;
    const counts = { right: 0, refused: 0, unopened: 0 };
    const anyTail = fc.constantFrom(64, 1024, 65_536);
    const anySmall = fc.array(anyBelow(small.length), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(anyDamage(bytes.length), anyTail, anySmall, anyBelow(large.length), (damage, tail, asked, last) => {
        const file = damaged(bytes, damage);
        const before = process.memoryUsage().arrayBuffers;
        const isOpen = refusalOf(() => {
          const opened = openSample(file, tail);
          for (const question of [...asked.map((i) => small[i]), large[last]])
            counts[ask(sample, question, opened) === undefined ? 'right' : 'refused']++;
        });
        if (isOpen !== undefined) counts.unopened++;
        expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MAX_GROWTH);
      }),
      { numRuns: DAMAGES },
    );
    // It did test what it says: each of these is a tenth or more of what happens.
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(DAMAGES / 50);
  });

  test('a flipped bit of a block is met by those who need the block, and by nobody else', () => {
    // Blocks have 64 keys or nodes and more: each is met by some of these questions.
    const small = sampleOf(sample.small, 250, sample.small.length);
    const blocked = openSample(sample.bytes).container.sections.filter(({ flags }) => (flags & FLAG_BLOCKED) !== 0);
    for (const { offset, storedLength } of blocked) {
      fc.assert(
        fc.property(anyFlips(storedLength), (damage) => {
          const { bytes } = sample;
          const inside = damaged(bytes.subarray(offset, offset + storedLength), damage);
          const file = openSample(
            Buffer.concat([bytes.subarray(0, offset), inside, bytes.subarray(offset + storedLength)]),
          );
          const refusals = small.flatMap((question) => ask(sample, question, file) ?? []);
          for (const refusal of refusals) expect(refusal).toBeInstanceOf(CorruptError);
          const places = new Set(
            refusals.map((refusal) => `${(refusal as CorruptError).section} ${(refusal as CorruptError).block}`),
          );
          expect([...places]).toHaveLength(1);
          expect(refusals.length).toBeLessThan(small.length);
        }),
        { numRuns: samples(1, 1, 12) },
      );
    }
  });
});
