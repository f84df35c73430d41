// Streams the answer of one query and counts it, when told to. Says when it is ready, so that the memory of before can be seen.
import { openTable, PERF_SCHEMA, PerfStore } from '../../dist/bench/tracedb.js';
import { TILE } from './shape.mjs';
import { storePath } from './store.mjs';
import { TRACES } from './support.mjs';

const [query] = process.argv.slice(2);
const perf = await PerfStore.open(await openTable(storePath(TRACES), PERF_SCHEMA));
// A listener that stays keeps this process alive until its memory was read.
process.on('message', async () => {
  let found = 0;
  for await (const ids of perf.queryIds(TILE, query)) found += ids.length;
  process.send(found);
});
process.send('ready');
