// Four of the writers of the param set test, each with caches of its own: round after round each adds params of its own and shared
// ones, straight to the row or by writing points. Prints every id it was given as a line of JSON.
import { OpsRow } from '../../../src/params/ops-rows.js';
import type { Params } from '../../../src/params/param-text.js';
import { FAMILIES, paramSetKey } from '../../../src/perf/keys.js';
import { PERF_SCHEMA, PerfStore } from '../../../src/perf/perf-store.js';
import { openTable } from '../../../src/table/open-table.js';

const [location = '', first = '', writers = '', rounds = ''] = process.argv.slice(2);
const table = await openTable(location, PERF_SCHEMA);
const POINTS_EVERY = 10;

/** What a writer adds in a round: its own, what all add, and now and then a key that is new to the set. */
const paramsOf = (writer: number, round: number): readonly Params[] => [
  { own: `w${writer}-${round}`, kind: 'own' },
  { shared: `s${round}`, kind: 'shared' },
  ...(round % 20 === writer ? [{ [`key-${writer}-${round}`]: 'x', kind: 'key' }] : []),
];

const write = async (writer: number): Promise<void> => {
  const row = new OpsRow(table, {
    key: paramSetKey(0),
    family: FAMILIES.params,
    opsColumn: 'OPS',
    hashColumn: 'H',
    // Clocks are never right: up to half a minute off, to either side.
    timestampMs: () => Date.now() + (writer - 8) * 4000,
    maxAttempts: 1000,
  });
  const perf = await PerfStore.open(table);
  for (let round = 0; round < Number(rounds); round++) {
    const params = paramsOf(writer, round);
    if (round % POINTS_EVERY === writer % POINTS_EVERY) {
      const points = params.map((one) => ({ params: one, value: writer * 1000 + round }));
      await perf.write([{ commit: writer, source: `writer-${writer}`, timestampMs: 1, points }]);
    }
    const ops = await row.update(params);
    console.log(JSON.stringify({ writer, round, ids: params.map((one) => [ops.encode(one), one]) }));
  }
  console.log(JSON.stringify({ writer, stats: row.stats() }));
};

await Promise.all(Array.from({ length: Number(writers) }, (_, i) => write(Number(first) + i)));
await table.close();
