// The worker thread of an archive, as it is built: it takes over the file of a dead writer, and a process that ends while it is busy loses nothing.
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { buildFirst } from '../../../test/support/built.js';
import { bundleChild, runFile } from '../../../test/support/child.js';
import { ownerText, THIS_OWNER } from '../src/directory.js';
import { filesOf, newDirectory, WAL } from './archive/support/directory.js';
import { numberedTrace } from './archive/support/numbered-traces.js';
import { traceIdOf } from './segment/support/segments.js';
import { checkAll, entries, openBuilt, traces } from './support/built-archive.js';

buildFirst();

test('the file of a dead writer is made a segment by the worker', async () => {
  const directory = newDirectory();
  const dead = await openBuilt(directory);
  dead.append(traces(0, 1000));
  await dead.flush();
  const [name] = filesOf(directory, WAL);
  const owner = ownerText({ ...THIS_OWNER, pid: 2 ** 22 + 1, instance: '0badf00d' });
  renameSync(join(directory, name), join(directory, `wal-${owner}-${name.slice(-16, -4)}.log`));
  const archive = await openBuilt(directory);
  expect(await archive.stats()).toMatchObject({ recoveredFiles: 1, recoveredSpans: 3000, workerTasks: 1, spans: 3000 });
  expect(await archive.trace(traceIdOf(7))).toEqual(numberedTrace(6));
});

test('a process that ends while its worker is busy neither hangs nor loses anything', async () => {
  const child = await bundleChild(fileURLToPath(new URL('children/worker-at-end.ts', import.meta.url)));
  const directory = newDirectory();
  const { code, signal, stderr } = await runFile(child, { args: [entries.esm, directory, 'naturally'] });
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: '' });
  await checkAll(directory, 2000);
});
