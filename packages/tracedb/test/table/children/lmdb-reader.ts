// Reads all rows again and again, slowly, until its input ends, and says `overlapped` of each read that a writer committed during; then
// prints what it saw as JSON.
import { openTable } from '../../../src/table/open-table.js';
import type { Row, RowSelection } from '../../../src/table/wide-column-table.js';
import { generationOf, judge, KEYS, SCHEMA } from './generations.js';

const [directory = ''] = process.argv.slice(2);
const table = await openTable(directory, SCHEMA);
let isOver = false;
process.stdin.on('end', () => {
  isOver = true;
});
process.stdin.resume();

const SELECTIONS: readonly RowSelection[] = [{ prefix: '' }, { start: 'a' }, { keys: KEYS }];
const seen = { backwards: 0, openReads: 0, faults: [] as string[] };
let last = 0;

const scan = async (selection: RowSelection): Promise<readonly Row[]> => {
  const rows: Row[] = [];
  for await (const batch of table.readRows(selection)) {
    rows.push(...batch);
    // Time for a writer to commit while the read is open, and for this process to notice.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return rows;
};

console.log('ready');
while (!isOver) {
  for (const selection of SELECTIONS) {
    const { generation, fault } = judge(await scan(selection));
    if (fault !== undefined) seen.faults.push(`${JSON.stringify(selection).slice(0, 20)}: ${fault}`);
    if (generation < last) seen.backwards++;
    last = generation;
    const now = await table.readRow(KEYS[0] as string);
    if (now !== undefined && generationOf(now) > generation) console.log('overlapped');
  }
}
seen.openReads = table.stats().openReads;
await table.close();
console.log(JSON.stringify(seen));
