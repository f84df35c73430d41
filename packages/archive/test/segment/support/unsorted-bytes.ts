// The bytes of an unsorted segment, of batches of so many spans each.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ArchivedSpan } from '../../../../../src/record/archived-span.js';
import { writeUnsorted } from '../../../src/segment/write-unsorted.js';
import { WalWriter } from '../../../src/wal/wal-writer.js';
import { newDirectory } from '../../archive/support/directory.js';

export const unsortedBytes = async (spans: readonly ArchivedSpan[], perBatch: number): Promise<Buffer> => {
  const directory = newDirectory();
  const writer = new WalWriter(join(directory, 'a.log'));
  for (let i = 0; i < spans.length; i += perBatch) writer.append(spans.slice(i, i + perBatch));
  writer.close();
  const path = join(directory, 'segment');
  await writeUnsorted(path, writer.frames, ['a', 'b']);
  return readFileSync(path);
};
