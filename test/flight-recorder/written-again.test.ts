// A snapshot that was read and is written again, such as a recovered one, keeps the names of its spans and properties, whatever numbers they have in
// the process that reads it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { BlockSnapshot } from '../../src/flight-recorder/block-snapshot.js';
import { readSnapshotFile } from '../../src/flight-recorder/index.js';
import { writeSnapshotFile } from '../../src/flight-recorder/snapshot-file.js';
import { LocalSpan } from '../../src/index.js';
import { internName } from '../../src/rows/row-text.js';
import { forgetNames, useOwnNames } from '../support/names.js';
import { flight, linesOf } from './support/flight.js';

useOwnNames();

const directory = mkdtempSync(join(tmpdir(), 'spanline-flight-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('names and keys are those of the first file', async () => {
  const it = flight();
  for (let i = 0; i < 20; i++) {
    const root = it.root(`GET /${i % 3}`).addProperty('request', i);
    root.run(() => LocalSpan.start('parse').end());
    root.end();
  }
  const taken = it.snapshot();
  const lines = linesOf(taken);
  const [first, second] = [join(directory, 'first.flight'), join(directory, 'second.flight')];
  await writeSnapshotFile(taken, first);
  // Another process knows other names before it reads the first one, and the same ones in another order.
  forgetNames();
  for (const name of ['elsewhere', 'request', 'parse', 'GET /1']) internName(name);
  const read = await readSnapshotFile(first);
  expect(linesOf(read)).toEqual(lines);
  await writeSnapshotFile(read as BlockSnapshot, second);
  const again = await readSnapshotFile(second);
  expect(linesOf(again)).toEqual(lines);
  const properties = (snapshot: typeof read) =>
    [...snapshot.traces()].flatMap(({ spans }) => spans.map(({ record }) => record.properties));
  expect(properties(again)).toEqual(properties(read));
});
