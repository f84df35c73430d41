// Stops for ever in the middle of a write, inside its transaction: it says so and then neither goes on nor lets go.
import { writeSync } from 'node:fs';
import { openTable } from '../../../src/table/open-table.js';
import type { Mutation, RowMutation } from '../../../src/table/wide-column-table.js';

const [directory = ''] = process.argv.slice(2);
const table = await openTable(directory, { families: ['V'] });
const mutations: readonly Mutation[] = [
  { type: 'set', family: 'V', qualifier: 'v', value: Buffer.from('stuck'), timestampMs: 9 },
];
let looks = 0;
const row: RowMutation = {
  key: 'b',
  get mutations() {
    // The first looks check the row, before the transaction; the second row must not come into it.
    if (++looks > 2) {
      writeSync(1, 'inside\n');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    }
    return mutations;
  },
};
await table.mutateRows([{ key: 'a', mutations }, row]);
writeSync(1, 'over\n');
