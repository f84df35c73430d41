// Writes batches until the disk is full, says so, and goes on when it is told that there is room again. Ends with what it saw as
// JSON; an unhandled rejection or a crash would show in how it ends.
import { createInterface } from 'node:readline';
import { openTable } from '../../../src/table/open-table.js';
import type { WideColumnTable } from '../../../src/table/wide-column-table.js';
import { TraceDbError } from '../../../src/tracedb-error.js';

const ROWS = 100;
const VALUE = Buffer.alloc(2000, 7);
const MAX_BATCHES = 1000;

const [directory = ''] = process.argv.slice(2);
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const said = async (word: string): Promise<void> => {
  console.log(word);
  await input.next();
};

/** Why a batch was refused; undefined when it was taken. */
const write = async (table: WideColumnTable, batch: number): Promise<string | undefined> => {
  const rows = Array.from({ length: ROWS }, (_, i) => ({
    key: `b${String(batch).padStart(4, '0')}-${i}`,
    mutations: [{ type: 'set' as const, family: 'V', qualifier: 'v', value: VALUE, timestampMs: 1 }],
  }));
  try {
    await table.mutateRows(rows);
    return undefined;
  } catch (error) {
    return error instanceof TraceDbError ? error.code : `not a TraceDbError: ${String(error)}`;
  }
};

/** Rows of each batch in the table. */
const batches = async (table: WideColumnTable): Promise<Record<string, number>> => {
  const found: Record<string, number> = {};
  for await (const keys of table.readKeys({ prefix: 'b' })) {
    for (const key of keys) found[key.slice(0, 5)] = (found[key.slice(0, 5)] ?? 0) + 1;
  }
  return found;
};

/** Batches that were acknowledged and are not there, or are there in part, or should not be there. */
const wrong = async (table: WideColumnTable, acked: readonly number[]): Promise<string[]> => {
  const found = await batches(table);
  const names = acked.map((batch) => `b${String(batch).padStart(4, '0')}`);
  const missing = names.filter((name) => found[name] !== ROWS);
  return [...missing, ...Object.keys(found).filter((name) => !names.includes(name))];
};

const report: Record<string, unknown> = {};
process.on('unhandledRejection', (error) => {
  console.error('unhandled rejection', error);
  process.exit(7);
});

let table = await openTable(directory, { families: ['V'] });
const acked: number[] = [];
let batch = 0;
for (; batch < MAX_BATCHES; batch++) {
  const refusal = await write(table, batch);
  if (refusal !== undefined) {
    report.refusal = refusal;
    break;
  }
  acked.push(batch);
}
report.acked = acked.length;
report.again = await write(table, ++batch);
report.sideBySide = [...new Set(await Promise.all([1, 2, 3].map((i) => write(table, batch + i))))];
batch += 3;
report.wrongWhenFull = await wrong(table, acked);
// A reader must be able to open a full store.
const other = await openTable(directory, { families: ['V'] });
report.wrongForOther = await wrong(other, acked);
await other.close();

await said('full');
for (let i = 0; i < 3; i++) {
  const refusal = await write(table, ++batch);
  if (refusal === undefined) acked.push(batch);
  else report.refusalWithRoom = refusal;
}
report.wrongWithRoom = await wrong(table, acked);
await table.close();

table = await openTable(directory, { families: ['V'] });
report.refusalReopened = await write(table, ++batch);
acked.push(batch);
report.wrongReopened = await wrong(table, acked);
report.openReads = table.stats().openReads;
await table.close();
console.log(JSON.stringify(report));
process.exit(0);
