// Writes generation after generation until it is killed. It says `begin N` before each batch and `ack N` when it is acknowledged.
import { writeSync } from 'node:fs';
import { openTable } from '../../../src/table/open-table.js';
import { batchOf, generationOf, KEYS, SCHEMA } from './generations.js';

const [directory = ''] = process.argv.slice(2);
const table = await openTable(directory, SCHEMA);
const row = await table.readRow(KEYS[0] as string);
for (let generation = (row === undefined ? 0 : generationOf(row)) + 1; ; generation++) {
  const batch = batchOf(generation);
  // Synchronous: what was acknowledged must be known outside before the next thing can happen.
  writeSync(1, `begin ${generation}\n`);
  await table.mutateRows(batch);
  writeSync(1, `ack ${generation}\n`);
}
