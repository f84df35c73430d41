// Opens a store, reads it and writes to it; says how far it came, with the code of the error that stopped it.
import { openTable } from '../../../src/table/open-table.js';
import { TraceDbError } from '../../../src/tracedb-error.js';

const [directory = '', user] = process.argv.slice(2);
if (user !== undefined) process.setuid?.(Number(user));
process.on('unhandledRejection', (error) => {
  console.error('unhandled rejection', error);
  process.exit(7);
});

const steps: string[] = [];
const tryTo = async <T>(done: string, step: () => Promise<T>): Promise<T | undefined> => {
  try {
    const result = await step();
    steps.push(done);
    return result;
  } catch (error) {
    steps.push(error instanceof TraceDbError ? error.code : `not a TraceDbError: ${String(error)}`);
    if (error instanceof TraceDbError) console.error(error.message);
    return undefined;
  }
};

const table = await tryTo('opened', () => openTable(directory, { families: ['V'] }));
if (table !== undefined) {
  await tryTo('read', async () => {
    for await (const _ of table.readRows({ prefix: '' }));
  });
  const value = Buffer.alloc(100);
  const mutations = [{ type: 'set' as const, family: 'V', qualifier: 'v', value, timestampMs: 1 }];
  await tryTo('written', () => table.mutateRows([{ key: 'row', mutations }]));
  await table.close();
}
console.log(steps.join(', '));
