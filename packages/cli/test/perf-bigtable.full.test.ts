// `spanline perf` does with a store in Bigtable what it does with one in a directory.
import { expect, test } from 'vitest';
import { describeBigtable } from '../../../test/support/bigtable-emulator.js';
import { perfStore } from './support/perf-store.js';
import { spanline } from './support/spanline.js';

const { store, file } = perfStore();

describeBigtable('on Bigtable', (emulator) => {
  test('the commands are the same', async () => {
    const place = emulator.location();
    const run = (...args: string[]) => spanline(['perf', ...args, '--store', place]);
    expect(await run('init', '--tile-size', '16')).toMatchObject({ code: 0, stderr: '' });
    expect(await run('ingest', file)).toMatchObject({ code: 0, stderr: '' });
    const here = await run('query', 'unit=ms');
    expect(here.stdout).toBe((await spanline(['perf', 'query', 'unit=ms', '--store', store])).stdout);
    expect((await run('regressions')).stdout).toBe((await spanline(['perf', 'regressions', '--store', store])).stdout);
    expect((await run('query', 'test=~dr', '--explain')).stdout).toContain('engine=bigtable');
  });

  test('a mistyped table does not become a store', async () => {
    const place = emulator.location();
    const run = (...args: string[]) => spanline(['perf', ...args, '--store', place]);
    for (const args of [['tiles', 'list'], ['regressions']]) {
      expect(await run(...args)).toMatchObject({
        code: 3,
        stdout: '',
        stderr: expect.stringContaining('make one with'),
      });
    }
    expect(await run('init', '--tile-size', '1024')).toMatchObject({ code: 0, stderr: '' });
  });

  test('a server that is not there ends the command with 3', async () => {
    const env = { BIGTABLE_EMULATOR_HOST: '127.0.0.1:1' };
    const gone = await spanline(['perf', 'tiles', 'list', '-s', emulator.location(), '--deadline', '2'], { env });
    expect(gone).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('spanline: ') });
    expect(gone.stderr).not.toContain('    at ');
  });
});
