// One of several processes that put into one Gold store at the same time. Arguments: location, number of this writer. Puts the commit
// that each line of standard input names and says `put` with its number; at the end prints, in JSON, what it counted.
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import { GOLD_SCHEMA } from '../../../src/gold/gold-keys.js';
import { GoldStore } from '../../../src/gold/gold-store.js';
import { openTable } from '../../../src/table/open-table.js';

const [location, writer] = process.argv.slice(2);
const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

const table = await openTable(location, GOLD_SCHEMA);
const store = await GoldStore.open(table);
console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const put = Number(line);
  const common = Array.from({ length: 15 }, (_, i) => ({
    params: { name: `test${i}`, writer },
    digest: md5(`common ${put} ${i}`),
  }));
  const own = Array.from({ length: 5 }, (_, i) => ({
    params: { name: `own${i}`, [`key${writer}`]: String(put) },
    options: { writer },
    digest: md5(`own ${writer} ${put} ${i}`),
  }));
  await store.put(put, [...common, ...own], 1_000_000 + put);
  console.log(`put ${put}`);
}
const stats = store.stats();
await table.close();
console.log(JSON.stringify(stats));
