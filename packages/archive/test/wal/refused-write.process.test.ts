// A batch that the system writes only in part is taken back at once: the file ends behind the last whole batch, and the next one goes on there.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { GraphError } from '../../../graph/src/container/graph-error.js';
import { thrownBy } from '../../../graph/test/container/support/errors.js';
import { WalWriter } from '../../src/wal/wal-writer.js';
import { newDirectory } from '../archive/support/directory.js';
import { numberedTrace } from '../archive/support/numbered-traces.js';
import { readWal } from '../support/read-wal.js';

/** Bounds the files that this process writes; Node ignores the signal that comes with it. */
const limitFiles = (bytes: number | 'unlimited'): boolean =>
  spawnSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`]).status === 0;
const canLimit = limitFiles('unlimited');
if (!canLimit) console.log('skipped: batches that are written in part, for there is no prlimit (util-linux)');
afterEach(() => void limitFiles('unlimited'));

test.skipIf(!canLimit)('the file ends behind the last whole batch, and goes on there', () => {
  const path = join(newDirectory(), 'a.log');
  const writer = new WalWriter(path);
  writer.append(numberedTrace(0));
  const whole = writer.bytes;
  limitFiles(whole + 20);
  const error = thrownBy(() => writer.append(numberedTrace(1)));
  expect(error).toBeInstanceOf(GraphError);
  expect(error).toMatchObject({ cause: { code: 'EFBIG' } });
  expect([statSync(path).size, writer.bytes]).toEqual([whole, whole]);
  limitFiles('unlimited');
  writer.append(numberedTrace(2));
  writer.close();
  expect(readWal(path)).toMatchObject({ spans: [...numberedTrace(0), ...numberedTrace(2)], tornBytes: 0 });
});
