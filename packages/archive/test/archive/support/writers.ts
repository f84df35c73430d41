// Programs that write to an archive until they are killed, and what must be there afterwards.
import { fileURLToPath } from 'node:url';
import { beforeAll, expect } from 'vitest';
import { bundleChild } from '../../../../../test/support/child.js';
import { expectSame } from '../../../../../test/support/same-values.js';
import type { Archive } from '../../../src/archive.js';
import { byId } from '../../segment/support/segments.js';
import { allSpans } from './directory.js';
import { numberedTrace } from './numbered-traces.js';
import { startWriter, type WriterProcess } from './writer-process.js';

type Name = 'write-and-acknowledge' | 'compact-for-ever';

/** Bundles these programs for a test file; gives what starts one. */
export const writerPrograms = (
  ...names: Name[]
): ((name: Name, directory: string, ...numbers: number[]) => WriterProcess) => {
  const programs = new Map<string, string>();
  beforeAll(async () => {
    for (const name of names)
      programs.set(name, await bundleChild(fileURLToPath(new URL(`../children/${name}.ts`, import.meta.url))));
  });
  return (name, directory, ...numbers) =>
    startWriter(programs.get(name) as string, [directory, ...numbers.map(String)]);
};

/** Every trace from `first` to `acknowledged` is there whole; of those behind whole ones only; each span once. Gives the number behind the last. */
export const expectWhole = async (archive: Archive, first: number, acknowledged: number): Promise<number> => {
  const own = (await allSpans(archive)).filter(({ properties: { n } }) => (n as number) >= first);
  const numbers = [...new Set(own.map(({ properties }) => properties.n as number))].sort((a, b) => a - b);
  const end = first + numbers.length;
  expect(end).toBeGreaterThanOrEqual(acknowledged);
  expectSame(
    numbers,
    numbers.map((_, i) => first + i),
  );
  expectSame(own, byId(numbers.flatMap(numberedTrace)));
  return end;
};
