// Salvage of a file whose index of keys is cut into blocks: that takes some hundred thousand keys.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seeded } from '../../../test/support/random.js';
import { CompactGraphBuilder } from '../src/builder/graph-builder.js';
import { Container } from '../src/container/container.js';
import { BufferSink } from '../src/container/container-writer.js';
import { type SectionEntry, SectionId } from '../src/container/layout.js';
import { BufferTransport } from '../src/container/transport/file-transport.js';
import { salvage } from '../src/salvage.js';
import { temporaryDirectory } from './container/support/temporary-directory.js';

const directory = temporaryDirectory();
const middleOf = ({ offset, storedLength }: SectionEntry): number => offset + Math.floor(storedLength / 2);

test('blocks of an index that is cut into blocks, and the table of those', async () => {
  const sink = new BufferSink();
  const builder = new CompactGraphBuilder(sink, {
    graphs: [{ referenceLists: 0, order: 'child-first', values: false, backPointers: false }],
    blockKeys: 64,
  });
  const random = seeded(5);
  for (let i = 0; i < 200_000; i++) {
    const bytes = Buffer.from(Array.from({ length: 12 }, () => Math.floor(random() * 256)));
    builder.add(0, bytes, undefined, []);
  }
  await builder.finish();
  const file = sink.toBuffer();
  const large = Container.openSync(new BufferTransport(file));
  const places = [SectionId.dictionaryIndexBlocks, SectionId.dictionaryIndex, SectionId.dictionaryIndexCopy].map((id) =>
    middleOf(large.need(id)),
  );
  const path = join(directory, 'large.graph');
  const keptOf = async (...damaged: readonly number[]): Promise<number> => {
    const bytes = Buffer.from(file);
    for (const place of damaged) bytes[place] ^= 1;
    writeFileSync(path, bytes);
    const { graphs, damage } = await salvage(path);
    expect(damage.length).toBeGreaterThanOrEqual(damaged.length);
    return graphs[0].keptNodes;
  };
  for (const place of places) expect(await keptOf(place)).toBe(200_000);
  // Without the copy, what one block of the index describes is lost, and no more.
  const kept = await keptOf(places[0], places[2]);
  expect(kept).toBeLessThan(200_000);
  expect(kept).toBeGreaterThanOrEqual(200_000 - 512 * 64);
});
