// Subject: the wide-column table on Bigtable.
import { openTable, PERF_SCHEMA } from '../../dist/bench/tracedb.js';
import { bigtableCases, INSTANCE, PROJECT } from './bigtable-rows.mjs';

const form = ({ key, value, digest, timestampMs }) => ({
  key,
  mutations: [
    { type: 'set', family: 'V', qualifier: '0', value, timestampMs },
    { type: 'set', family: 'S', qualifier: '0', value: digest, timestampMs },
  ],
});

const open = async () => {
  const table = await openTable(`bigtable://${PROJECT}/${INSTANCE}/spanline`, PERF_SCHEMA);
  const scan = async (prefix) => {
    let rows = 0;
    let bytes = 0;
    for await (const batch of table.readRows({ prefix })) {
      rows += batch.length;
      for (const { cells } of batch) for (const { value } of cells) bytes += value.length;
    }
    return { rows, bytes };
  };
  return { form, write: (rows) => table.mutateRows(rows), scan };
};

export const subject = 'spanline';
export const cases = bigtableCases(open);
