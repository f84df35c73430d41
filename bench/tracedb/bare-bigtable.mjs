// Subject: loops over the official client, which write and read the same rows and do nothing else.
import { Bigtable } from '@google-cloud/bigtable';
import { bigtableCases, INSTANCE, PROJECT } from './bigtable-rows.mjs';

const form = ({ key, value, digest, timestampMs }) => ({
  key,
  data: {
    V: { 0: { value, timestamp: timestampMs * 1000 } },
    S: { 0: { value: digest, timestamp: timestampMs * 1000 } },
  },
});

const open = async () => {
  const instance = new Bigtable({ projectId: PROJECT, metricsEnabled: false }).instance(INSTANCE);
  const [table] = await instance.createTable('bare', { families: ['V', 'S'] });
  const scan = async (prefix) => {
    let rows = 0;
    let bytes = 0;
    // Without decoding, which would take the values for text.
    for await (const { data } of table.createReadStream({ prefix, decode: false })) {
      rows++;
      for (const columns of Object.values(data))
        for (const [{ value }] of Object.values(columns)) bytes += value.length;
    }
    return { rows, bytes };
  };
  return { form, write: (rows) => table.insert(rows), scan };
};

export const subject = 'bare-bigtable';
export const cases = bigtableCases(open);
