// A file whose writers are killed at any moment is whole or is not there, and the next writer gets through.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bundleChild } from '../../../../test/support/child.js';
import { seeded } from '../../../../test/support/random.js';
import { samples } from '../../../../test/support/samples.js';
import { AtomicFileSink } from '../../src/container/container-writer.js';
import { temporaryDirectory } from './support/temporary-directory.js';

const directory = temporaryDirectory();

/** A writer replaces the file all the time: a file that is not whole for a tenth of it would be met by 24 kills but once in twelve. */
const KILLED = samples(24, 24, 240);

test(`${KILLED} writers killed`, { timeout: 600_000 }, async () => {
  const child = await bundleChild(fileURLToPath(new URL('children/write-file.ts', import.meta.url)));
  const path = join(directory, 'file');
  const random = seeded(5);
  for (let round = 0; round < KILLED; round++) {
    const writer = spawn(process.execPath, [child, path, 'x', '100000', '300000'], { stdio: 'ignore' });
    const closed = once(writer, 'close');
    await sleep(60 + 100 * random());
    writer.kill('SIGKILL');
    await closed;
    if (existsSync(path)) expect(readFileSync(path).equals(Buffer.alloc(300_000, 'x'))).toBe(true);
  }
  const sink = new AtomicFileSink(path);
  sink.write(Buffer.from('next'));
  sink.finish();
  expect(readFileSync(path, 'utf8')).toBe('next');
});
