// A process that used a table ends by itself, and an emulator ends with the process that started it.
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { findEmulator } from '../../../../../scripts/lib/bigtable-emulator.mjs';
import { isListening } from '../../../../../scripts/lib/local-ports.mjs';
import { describeBigtable } from '../../../../../test/support/bigtable-emulator.js';
import { out, root, runFile } from '../../../../../test/support/child.js';

/** A child's program; packages stay where they are, as with a user. */
const program = async (name: string): Promise<string> => {
  const outfile = join(out, `${basename(name, '.ts')}.mjs`);
  await build({
    entryPoints: [join(root, 'packages/tracedb/test/table/bigtable/children', name)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    packages: 'external',
    logLevel: 'error',
  });
  return outfile;
};

describeBigtable('processes', (emulator) => {
  test.each(['close', 'open'])('a process whose table is left %s ends by itself, with nothing to say', async (how) => {
    const child = await runFile(await program('use-table.ts'), { args: [emulator.location(), how] });
    expect(child).toEqual({ code: 0, signal: null, stdout: 'true\n', stderr: '' });
  });

  const emulatorProgram = findEmulator();
  test.skipIf(emulatorProgram === undefined)(
    'an emulator does not outlive the process that started it, even when that is killed',
    async () => {
      const file = await program('own-emulator.ts');
      const child = await runFile(file, { args: [emulatorProgram as string], signalWhenReady: 'SIGKILL' });
      expect(child.signal).toBe('SIGKILL');
      const host = child.stdout.split(' ')[0] as string;
      expect(host).toMatch(/^127\.0\.0\.1:\d+$/);
      const [address, port] = host.split(':') as [string, string];
      // The test's time limit is the bound.
      while (await isListening(Number(port), address)) await new Promise((resolve) => setTimeout(resolve, 20));
    },
  );
});
