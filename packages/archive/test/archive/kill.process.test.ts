// A writer that is killed loses nothing it acknowledged, and the next one takes its file over. kill.full.test.ts kills at any moment.
import { expect, test } from 'vitest';
import { filesOf, newDirectory, openArchive, WAL } from './support/directory.js';
import { expectWhole, writerPrograms } from './support/writers.js';

const start = writerPrograms('write-and-acknowledge');

test('a killed writer', async () => {
  const directory = newDirectory();
  const writer = start('write-and-acknowledge', directory, 0);
  await writer.until(120);
  await writer.kill();
  expect(writer.stderr).toBe('');
  const reader = await openArchive(directory, { readOnly: true });
  const end = await expectWhole(reader, 0, writer.acknowledged);
  const archive = await openArchive(directory);
  expect(await expectWhole(archive, 0, end)).toBe(end);
  expect(await archive.stats()).toMatchObject({ damaged: [], failures: 0 });
  expect(filesOf(directory, WAL)).toEqual([]);
});
