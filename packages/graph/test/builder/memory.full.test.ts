// A builder keeps to its memory, whatever it builds, but for a margin; and a process that is killed leaves nothing in the way.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { bundleChild, resultOf, runFile } from '../../../../test/support/child.js';
import { temporaryDirectory } from '../container/support/temporary-directory.js';

const MIB = 1024 * 1024;
/** What the documentation of the builder grants beyond `memoryBytes`. */
const MARGIN = 128 * MIB;

const child = (name: string): Promise<string> =>
  bundleChild(fileURLToPath(new URL(`./children/${name}.ts`, import.meta.url)));

describe('a builder in a process of its own', () => {
  test.runIf(process.platform === 'linux')(
    'keeps to its memory with a graph many times as large',
    async () => {
      const target = join(temporaryDirectory(), 'large.graph');
      const [memoryMiB, nodes, valueBytes] = [24, 180_000, 1200];
      const end = await runFile(await child('build-large'), {
        args: [target, String(memoryMiB), String(nodes), String(valueBytes)],
      });
      const { growth, stats } = resultOf(end) as { growth: number; stats: { keyCount: number; spilledRuns: number } };
      expect(stats.keyCount).toBe(nodes);
      expect(stats.spilledRuns).toBeGreaterThan(10);
      // One that kept everything would grow by more than is allowed.
      expect(nodes * valueBytes).toBeGreaterThan(memoryMiB * MIB + MARGIN);
      expect(growth).toBeLessThan(memoryMiB * MIB + MARGIN);
    },
    240_000,
  );

  test('leaves nothing when it is killed after it has spilled', async () => {
    const directory = temporaryDirectory();
    const end = await runFile(await child('spill-and-wait'), {
      args: [directory],
      signalWhenReady: 'SIGKILL',
    });
    expect(end.stdout).toContain('ready');
    expect(end.signal).toBe('SIGKILL');
    // Where open files keep their names, the name says whose it was.
    const left = readdirSync(directory);
    expect(left.every((name) => process.platform === 'win32' && name.startsWith('.spanline-graph-'))).toBe(true);
  });
});
