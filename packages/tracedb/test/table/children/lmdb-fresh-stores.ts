// Makes a store again and again in the same place, each growing as fast as it can, until its input ends; a line for each. Argument: directory.
import { rm } from 'node:fs/promises';
import { openTable } from '../../../src/table/open-table.js';

const [directory] = process.argv.slice(2) as [string];
let isOver = false;
process.stdin.on('end', () => {
  isOver = true;
});
process.stdin.resume();

const value = Buffer.alloc(3000);
for (let store = 0; !isOver; store++) {
  await rm(directory, { recursive: true, force: true });
  const table = await openTable(directory, { families: ['V'] });
  for (let i = 0; i < 60; i++) {
    await table.mutateRows([
      { key: `row${i}`, mutations: [{ type: 'set', family: 'V', qualifier: 'q', value, timestampMs: 1 }] },
    ]);
  }
  await table.close();
  console.log(`store ${store}`);
}
