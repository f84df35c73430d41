// A writer that is killed in the middle of a batch tears nothing and loses nothing it acknowledged, and readers in other
// processes never see half of a batch.
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTable } from '../../../src/tracedb/table/open-table.js';
import type { Row } from '../../../src/tracedb/table/wide-column-table.js';
import { root } from '../../support/child.js';
import { rounds } from '../../support/rounds.js';
import { bundleProgram, startProgram } from '../support/child.js';
import { seeded } from '../support/random.js';
import { judge, SCHEMA } from './children/generations.js';

const ROUNDS = rounds(50);
// A kill may come between two batches; such a round does not count.
const MAX_KILLS = 3 * ROUNDS;
// Live data is about half a megabyte; pages that dead processes keep from being used again would add up.
const MAX_FILE_BYTES = 64 * 1024 * 1024;

const random = seeded(50);
let folder: string;
let writer: string;
let reader: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spanline-crash-'));
  writer = await bundleProgram(join(root, 'test/tracedb/table/children/lmdb-writer.ts'));
  reader = await bundleProgram(join(root, 'test/tracedb/table/children/lmdb-reader.ts'));
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
  for (let kills = 0; midBatch < ROUNDS; kills++) {
    expect(kills, 'kills, of which too few came in mid batch').toBeLessThan(MAX_KILLS);
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
  for (const report of reports) {
    expect(report).toMatchObject({ backwards: 0, openReads: 0, faults: [] });
    // Else the readers would prove nothing: they must have read while batches were committed.
    expect(report.overlapped).toBeGreaterThan(ROUNDS * 0.4);
    expect(report.generations).toBeGreaterThan(ROUNDS * 0.4);
  }
  expect(midBatch).toBe(ROUNDS);
  expect((await stat(join(directory, 'data.mdb'))).size).toBeLessThan(MAX_FILE_BYTES);
  await table.close();
}, 240_000);
