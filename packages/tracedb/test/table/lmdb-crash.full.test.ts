// A writer that is killed in the middle of a batch tears nothing and loses nothing it acknowledged, and readers in other
// processes never see half of a batch.
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../../../test/support/child.js';
import { seeded } from '../../../../test/support/random.js';
import { samples } from '../../../../test/support/samples.js';
import { openTable } from '../../src/table/open-table.js';
import type { Row } from '../../src/table/wide-column-table.js';
import { bundleProgram, type Child, startProgram } from '../support/child.js';
import { judge, SCHEMA } from './children/generations.js';

const ROUNDS = samples(8, 8, 50);
// A batch is about a megabyte. Pages that killed processes kept from being used again would add up to more than this; what a reader keeps
// is written during one scan, which would have to last for fifty batches.
const MAX_FILE_BYTES = 64 * 1024 * 1024;

const random = seeded(50);
let folder: string;
let writer: string;
let reader: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spanline-crash-'));
  writer = await bundleProgram(join(root, 'packages/tracedb/test/table/children/lmdb-writer.ts'));
  reader = await bundleProgram(join(root, 'packages/tracedb/test/table/children/lmdb-reader.ts'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Start a writer, see how long its first batch takes, and kill it somewhere in the time of a later one. */
const killWriter = async (directory: string): Promise<{ readonly begun: number; readonly acked: number }> => {
  const child = startProgram(writer, [directory]);
  const starting = (word: string) => (line: string) => line.startsWith(word);
  await child.line(starting('begin'));
  const since = performance.now();
  await child.line(starting('ack'));
  const batchMs = performance.now() - since;
  await sleep(random() * 2 * batchMs);
  child.process.kill('SIGKILL');
  expect(await child.ended).toEqual({ code: null, signal: 'SIGKILL' });
  const last = (word: string): number => Number(child.lines.findLast(starting(word))?.slice(word.length) ?? 0);
  return { begun: last('begin'), acked: last('ack') };
};

test(`${ROUNDS} writers killed in mid batch, with two readers`, async () => {
  const directory = join(folder, 'store');
  const table = await openTable(directory, SCHEMA);
  const readers = [reader, reader].map((file) => startProgram(file, [directory]));
  await Promise.all(readers.map((child) => child.line((line) => line === 'ready')));
  let midBatch = 0;
  let acked = 0;
  // A kill between two batches does not count; nor do readers prove anything that read while nothing was committed.
  const overlaps = (child: Child): number => child.lines.filter((line) => line === 'overlapped').length;
  while (midBatch < ROUNDS || readers.some((child) => overlaps(child) < ROUNDS / 3)) {
    const round = await killWriter(directory);
    acked = Math.max(acked, round.acked);
    const rows: Row[] = [];
    for await (const batch of table.readRows({ prefix: '' })) rows.push(...batch);
    const { generation, fault } = judge(rows);
    expect(fault).toBeUndefined();
    // Acknowledged is kept; what was begun may be there, whole, or not.
    expect([acked, round.begun]).toContain(generation);
    if (round.begun > round.acked) midBatch++;
  }
  const reports = await Promise.all(
    readers.map(async (child) => {
      expect({ ...(await child.finish()), stderr: child.stderr() }).toEqual({ code: 0, signal: null, stderr: '' });
      return JSON.parse(child.lines.at(-1) ?? '') as Record<string, unknown>;
    }),
  );
  for (const report of reports) expect(report).toEqual({ backwards: 0, openReads: 0, faults: [] });
  expect((await stat(join(directory, 'data.mdb'))).size).toBeLessThan(MAX_FILE_BYTES);
  await table.close();
}, 240_000);
