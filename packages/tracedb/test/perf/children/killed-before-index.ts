// A writer that is killed by the system when it is about to write index rows. Argument: location.
import { PERF_SCHEMA, PerfStore } from '../../../src/perf/perf-store.js';
import { openTable } from '../../../src/table/open-table.js';
import { dyingTable } from '../support/dying-table.js';

const table = await openTable(process.argv[2] as string, PERF_SCHEMA);
const perf = await PerfStore.open(
  dyingTable(table, (name, [rows]) => {
    if (name === 'mutateRows' && (rows as { key: string }[]).some(({ key }) => key.startsWith('j'))) {
      process.kill(process.pid, 'SIGKILL');
    }
    return false;
  }),
);
const points = Array.from({ length: 100 }, (_, i) => ({ params: { test: `t${i}`, arch: 'x86' }, value: i }));
await perf.writeTraces(3, points, { source: 'run.json', timestampMs: 1 });
console.log('not killed');
