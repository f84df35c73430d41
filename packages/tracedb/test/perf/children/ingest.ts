// Ingests a file and says so after each batch. Arguments: location, file.
import { ingestFile } from '../../../src/perf/ingest-files.js';
import { PERF_SCHEMA, PerfStore } from '../../../src/perf/perf-store.js';
import { openTable } from '../../../src/table/open-table.js';

const [location, file] = process.argv.slice(2) as [string, string];
const table = await openTable(location, PERF_SCHEMA);
const perf = await PerfStore.open(table, { tileSize: 1024 });
const done = await ingestFile(perf, file, {
  name: 'history',
  onProgress: ({ entries }) => console.log(`at ${entries}`),
});
await table.close();
console.log(JSON.stringify(done));
