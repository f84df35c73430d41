// Ten thousand bit flips, cuts and worse over graph files of three kinds: never a wrong answer, never a hang, never an error without a
// type, never more memory than the bound; and one damaged block leaves all others readable.
import { beforeAll, describe, expect, test } from 'vitest';
import { CorruptError, GraphError } from '../../../src/container/graph-error.js';
import { FLAG_BLOCKED } from '../../../src/container/layout.js';
import { rounds } from '../../support/rounds.js';
import { below, type Random, seeded } from '../dictionary/support/random-keys.js';
import { MAX_BLOCK_BYTES, openSample, type Question, SAMPLES, type Sample } from './support/samples.js';

const DAMAGES = rounds(10_000);
const KINDS = Object.keys(SAMPLES);
/** The file itself is in memory, and what is decoded of it is: nothing beyond that. */
const MAX_GROWTH = 16 * MAX_BLOCK_BYTES;

const flip = (bytes: Buffer, random: Random): Buffer => {
  bytes[below(random, bytes.length)] ^= 1 << below(random, 8);
  return bytes;
};

/** Ways to damage a copy, by how often they are taken. */
const WAYS: readonly [number, (bytes: Buffer, random: Random) => Buffer][] = [
  [0.65, flip],
  // Several bits, some of which may hide each other.
  [0.75, (bytes, random) => [1, 2, 3, 4].reduce((damaged) => flip(damaged, random), bytes)],
  [0.87, (bytes, random) => bytes.subarray(0, below(random, bytes.length))],
  [
    0.94,
    (bytes, random) => {
      const at = below(random, bytes.length);
      return bytes.fill(random() < 0.5 ? 0 : 255, at, Math.min(bytes.length, at + below(random, 3000)));
    },
  ],
  [
    1,
    (bytes, random) => {
      // A stretch is gone: all behind it has moved.
      const at = below(random, bytes.length);
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + below(random, 64))]);
    },
  ],
];

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

describe.each(KINDS)('%s', (kind) => {
  let sample: Sample;
  beforeAll(() => {
    sample = SAMPLES[kind]();
  });

  test(`${Math.ceil(DAMAGES / KINDS.length)} damages: right answers, or errors with a type, within the bound`, () => {
    const random = seeded(KINDS.indexOf(kind) + 1);
    const counts = { right: 0, refused: 0, unopened: 0 };
    for (let i = 0; i < DAMAGES / KINDS.length; i++) {
      const way = random();
      const damage = (WAYS.find(([share]) => way < share) as (typeof WAYS)[number])[1];
      const damaged = damage(Buffer.from(sample.bytes), random);
      const before = process.memoryUsage().arrayBuffers;
      const isOpen = refusalOf(() => {
        const file = openSample(damaged, [64, 1024, 65_536][i % 3]);
        const questions = Array.from({ length: 4 }, () => sample.small[below(random, sample.small.length)]);
        for (const question of [...questions, sample.large[i % sample.large.length]])
          counts[ask(sample, question, file) === undefined ? 'right' : 'refused']++;
      });
      if (isOpen !== undefined) counts.unopened++;
      const growth = process.memoryUsage().arrayBuffers - before;
      if (growth > MAX_GROWTH) expect(growth).toBeLessThan(MAX_GROWTH);
    }
    // It did test what it says.
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(DAMAGES / 100);
  });

  test('a flipped bit of a block is met by those who need the block, and by nobody else', () => {
    const random = seeded(77);
    const blocked = openSample(sample.bytes).container.sections.filter(({ flags }) => (flags & FLAG_BLOCKED) !== 0);
    for (const { offset, storedLength } of blocked) {
      for (let i = 0; i < rounds(12); i++) {
        const damaged = Buffer.from(sample.bytes);
        damaged[offset + below(random, storedLength)] ^= 1 << below(random, 8);
        const file = openSample(damaged);
        const refusals = sample.small.flatMap((question) => ask(sample, question, file) ?? []);
        for (const refusal of refusals) expect(refusal).toBeInstanceOf(CorruptError);
        const places = new Set(
          refusals.map((refusal) => `${(refusal as CorruptError).section} ${(refusal as CorruptError).block}`),
        );
        expect([...places]).toHaveLength(1);
        expect(refusals.length).toBeLessThan(sample.small.length);
      }
    }
  });
});
