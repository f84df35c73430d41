// Segments that others merge while a place is listed: whoever lists it gets what is there then, and never an error.
import { expect, test } from 'vitest';
import type { DirectoryNames } from '../src/directory.js';
import { DirectoryPlace } from '../src/segment-place.js';
import { SegmentSet } from '../src/segment-set.js';
import { newDirectory, openArchive } from './archive/support/directory.js';
import { numberedTrace } from './archive/support/numbered-traces.js';

/** Names what was there before, the first time. */
class LatePlace extends DirectoryPlace {
  before: DirectoryNames | undefined;

  override list(): Promise<DirectoryNames> {
    const { before } = this;
    this.before = undefined;
    return before === undefined ? super.list() : Promise.resolve(before);
  }
}

test('segments that are merged by another while they are listed', async () => {
  const directory = newDirectory();
  const archive = await openArchive(directory);
  for (const n of [0, 1]) {
    archive.append(numberedTrace(n));
    await archive.seal();
  }
  const place = new LatePlace(directory);
  const before = await place.list();
  expect(before.segments).toHaveLength(2);
  await archive.compact();
  place.before = before;
  const { segments } = await new SegmentSet(place, 4, 1 << 20).list();
  expect(segments).toHaveLength(1);
});
