// Opens a scan, says so, and ends it only when it is told; then scans once more. Prints the number of rows of both.
import { createInterface } from 'node:readline';
import { openTable } from '../../../src/table/open-table.js';

const [directory = ''] = process.argv.slice(2);
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const table = await openTable(directory, { families: ['V'] });
const buffered = table.readRows({ prefix: '' });
let before = (await buffered.next()).value?.length ?? 0;
console.log('open');
await input.next();
for await (const rows of buffered) before += rows.length;
let after = 0;
for await (const keys of table.readKeys({ prefix: '' })) after += keys.length;
await table.close();
console.log(JSON.stringify({ before, after }));
process.exit(0);
