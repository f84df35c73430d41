// Uses a table and then has nothing more to do: `close` closes it first, `open` leaves it, with a read begun.
import { openTable } from '../../../../src/table/open-table.js';

const [, , location = '', how] = process.argv;
const table = await openTable(location, { families: ['V'] });
const value = Buffer.from('v');
const keys = Array.from({ length: 3000 }, (_, i) => `key-${i}`);
await table.mutateRows(
  keys.map((key) => ({ key, mutations: [{ type: 'set', family: 'V', qualifier: 'c', value, timestampMs: 1 }] })),
);
for await (const batch of table.readRows({ prefix: '' })) {
  console.log(batch.length > 0);
  break;
}
if (how === 'close') await table.close();
