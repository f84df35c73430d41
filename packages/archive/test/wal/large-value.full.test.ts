// A value that is small on the way and takes much memory is refused by write-ahead files as by segments, which could not keep it.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LimitError } from '../../../graph/src/container/graph-error.js';
import { thrownBy } from '../../../graph/test/container/support/errors.js';
import { WalWriter } from '../../src/wal/wal-writer.js';
import { newDirectory } from '../archive/support/directory.js';
import { numberedTrace } from '../archive/support/numbered-traces.js';
import { segmentBytes, span } from '../segment/support/segments.js';
import { readWal } from '../support/read-wal.js';

test('a megabyte of empty lists', () => {
  const bad = span({ properties: { a: Array.from({ length: 600_000 }, () => []) } });
  expect(thrownBy(() => segmentBytes([bad]))).toBeInstanceOf(LimitError);
  const path = join(newDirectory(), 'a.log');
  const writer = new WalWriter(path);
  expect(thrownBy(() => writer.append([...numberedTrace(1), bad]))).toBeInstanceOf(LimitError);
  writer.append(numberedTrace(2));
  writer.close();
  expect(readWal(path)).toMatchObject({ spans: numberedTrace(2), tornBytes: 0 });
});
