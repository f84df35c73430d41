// Bits turned over, one at a time: every answer is right, or an error that names the section and the block; other blocks
// stay readable. And what a liar wrote, with good checksums, is refused before it takes memory.
import { describe, expect, test } from 'vitest';
import { ByteWriter } from '../../../../src/base/bytes/byte-writer.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { Container } from '../../src/container/container.js';
import { BufferSink, ContainerWriter } from '../../src/container/container-writer.js';
import { CorruptError, GraphError } from '../../src/container/graph-error.js';
import { SectionId } from '../../src/container/layout.js';
import { BufferTransport } from '../../src/container/transport/file-transport.js';
import { allocationsOf } from '../container/support/allocations.js';
import { thrownBy } from '../container/support/errors.js';
import { anyBelow, anyFlips, damaged } from '../support/damage.js';
import { buildDictionary, openDictionary } from './support/build.js';
import { hashKeys, nameKeys, randomBytes, seeded, spanKeys } from './support/random-keys.js';

/** Long random separators: an index of two levels in a small file. */
const twoLevels = (): Buffer[] => {
  const random = seeded(31);
  const keys = hashKeys(16, 3000, random).flatMap((first) =>
    Array.from({ length: 64 }, (_, i) => Buffer.concat([first, Buffer.from([i])])),
  );
  return [Buffer.from([0]), ...keys];
};

describe.each([
  ['hashes', samples(80, 600, 4500), hashKeys(1500), { filter: true }],
  [
    'names and spans',
    samples(80, 600, 4500),
    [...nameKeys(700), ...spanKeys(80, 10)].sort(Buffer.compare),
    { groupBytes: 16 },
  ],
  ['two levels', samples(15, 160, 1000), twoLevels(), { blockKeys: 64 }],
] as const)('%s', (_, flips, keys, options) => {
  const whole = Buffer.concat(keys);
  const { bytes } = buildDictionary([...keys], options);
  const good = openDictionary(bytes).dictionary;
  const sections = Container.openSync(new BufferTransport(bytes)).sections;
  const placeOf = (id: number) => sections.find((section) => section.id === id);

  test(`${flips} turned bits`, () => {
    let refused = 0;
    const anyRanks = fc.array(anyBelow(keys.length), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(anyFlips(bytes.length), anyRanks, anyBelow(10), (flip, ranks, tenth) => {
        let hurt: number | undefined;
        const meets = (call: () => void): void => {
          try {
            call();
          } catch (error) {
            refused++;
            if (!(error instanceof GraphError)) throw error;
            if (!(error instanceof CorruptError)) return;
            if (error.section === 'dictionaryBlocks') {
              // One bit hurts one block.
              hurt ??= error.block;
              if (hurt === undefined || error.block !== hurt) expect(error.block).toBe(hurt ?? 'a block');
            }
          }
        };
        meets(() => {
          const { dictionary } = openDictionary(damaged(bytes, flip), { filter: true });
          for (const rank of ranks) meets(() => expect(dictionary.lookupSync(keys[rank])?.ordinals).toEqual([rank]));
          if (tenth === 0) meets(() => expect(whole.equals(dictionary.allKeysSync().bytes)).toBe(true));
        });
      }),
      { numRuns: flips },
    );
    expect(refused).toBeGreaterThan(flips / 4);
  });

  test('a damaged block is named, all others are readable', () => {
    const copy = Buffer.from(bytes);
    const blocks = placeOf(SectionId.dictionaryBlocks);
    copy[(blocks?.offset ?? 0) + (blocks?.storedLength ?? 0) / 2] ^= 4;
    const { dictionary } = openDictionary(copy);
    const lost = keys.flatMap((key, rank) => {
      try {
        expect(dictionary.lookupSync(key)?.rank).toBe(rank);
        return [];
      } catch (error) {
        expect(error).toBeInstanceOf(CorruptError);
        return [(error as CorruptError).block];
      }
    });
    expect(new Set(lost).size).toBe(1);
    expect(lost.length).toBeLessThanOrEqual(good.blockKeys);
  });

  test('a damaged index is named', () => {
    for (const id of [SectionId.dictionaryIndex, SectionId.dictionaryIndexBlocks, SectionId.filter]) {
      const section = placeOf(id);
      if (section === undefined) continue;
      const copy = Buffer.from(bytes);
      copy[section.offset + (section.storedLength >> 1)] ^= 1;
      const name = Object.entries(SectionId).find(([, one]) => one === id)?.[0];
      const error = thrownBy(() => openDictionary(copy, { filter: true }).dictionary.lookupManySync([...keys]));
      expect(error).toMatchObject({ code: 'ERR_SPANLINE_GRAPH_CORRUPT', section: name });
    }
  });
});

describe('lies with good checksums', () => {
  const random = seeded(33);

  /** A file whose index section is `index`, above the blocks of a good one. */
  const withIndex = (index: Buffer): Buffer => {
    const sink = new BufferSink();
    const writer = new ContainerWriter(sink);
    const start = writer.position;
    writer.block(randomBytes(random, 300));
    writer.blockedSection({ id: SectionId.dictionaryBlocks }, start);
    writer.section({ id: SectionId.dictionaryIndex }, index);
    writer.finish();
    return sink.toBuffer();
  };

  const indexOf = (numbers: readonly number[], behind: Uint8Array = Buffer.alloc(0)): Buffer => {
    const writer = new ByteWriter();
    for (const number of numbers) writer.varint(number);
    writer.raw(behind);
    return Buffer.from(writer.view());
  };

  // Form, levels, keys, bytes of keys, keys of a block, graphs, blocks, offset.
  test.each<[string, string, number[], number?]>([
    ['a form of the future', 'unknown form 2', [2, 1, 0, 0, 128, 1, 0, 0]],
    ['three levels', '3 levels', [1, 3, 0, 0, 128, 1, 0, 0]],
    ['keys without bytes', 'cannot be', [1, 1, 100, 99, 128, 1, 1, 0]],
    ['keys longer than keys are', 'cannot be', [1, 1, 1, 4097, 128, 1, 1, 0]],
    ['blocks of 2 ** 40 keys', 'blocks of', [1, 1, 2 ** 40, 2 ** 41, 2 ** 40, 1, 1, 0]],
    ['2 ** 45 keys', 'cannot be', [1, 1, 2 ** 45, 2 ** 46, 1024, 1, 2 ** 35, 0]],
    ['2 ** 40 blocks', 'too short', [1, 1, 200, 2000, 128, 1, 2 ** 40, 0]],
    ['no graph', '0 graphs', [1, 1, 0, 0, 128, 0, 0, 0]],
    ['a thousand graphs', '1000 graphs', [1, 1, 0, 0, 128, 1000, 0, 0]],
    ['keys and no block', 'does not describe', [1, 1, 200, 2000, 128, 1, 0, 0], 0],
    ['blocks and no key', 'too short', [1, 1, 0, 0, 128, 1, 1, 0]],
  ])('%s', (_, message, numbers, behind = 200) => {
    const bytes = withIndex(indexOf(numbers, Buffer.alloc(behind)));
    let error: GraphError | undefined;
    const { total } = allocationsOf(() => {
      error = thrownBy(() => openDictionary(bytes).dictionary.allKeysSync());
    });
    expect(error).toMatchObject({ code: 'ERR_SPANLINE_GRAPH_CORRUPT', section: 'dictionaryIndex' });
    expect(error?.message).toContain(message);
    expect(total).toBeLessThan(1_000_000);
  });

  test.each([
    ['one level', samples(60, 200, 1500), hashKeys(1500), {}],
    ['two levels', samples(8, 40, 200), twoLevels(), { blockKeys: 64 }],
  ] as const)('random changes of an index of %s, its checksum mended', (_, changes, keys, options) => {
    const { bytes } = buildDictionary(keys, options);
    const container = Container.openSync(new BufferTransport(bytes));
    const index = container.readSync([container.need(SectionId.dictionaryIndex)])[0];
    fc.assert(
      fc.property(anyBelow(Math.min(index.length, 400)), anyBelow(256), anyBelow(keys.length), (at, byte, rank) => {
        const changed = Buffer.from(index);
        changed[at] = byte;
        const sink = new BufferSink();
        const writer = new ContainerWriter(sink);
        for (const id of [SectionId.dictionaryBlocks, SectionId.dictionaryIndexBlocks]) {
          const entry = container.find(id);
          if (entry === undefined) continue;
          const start = writer.position;
          // As they lie in the file: blocks are described by the index alone.
          const stored = container.readStoredSync([{ offset: entry.offset, length: entry.storedLength }])[0];
          sink.write(stored);
          writer.blockedSection({ id }, start);
        }
        writer.section({ id: SectionId.dictionaryIndex }, changed);
        writer.finish();
        try {
          const { dictionary } = openDictionary(sink.toBuffer());
          dictionary.lookupSync(keys[rank]);
          dictionary.keyAtSync(0);
          dictionary.allKeysSync({ maxBytes: 50_000_000 });
        } catch (error) {
          expect(error).toBeInstanceOf(GraphError);
        }
      }),
      { numRuns: changes },
    );
  });
});
