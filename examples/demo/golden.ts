// Golden shapes: which spans under which, how many times, of one trace of each query. They are accepted once; when the service is changed so that one
// query asks the store once for every test, its shape is another, and `expectTraceShape` says so.
import { AssertionError } from 'node:assert';
import { GOLD_SCHEMA, GoldStore, openTable } from '@spanline/tracedb';
import { flush, setReporter } from 'spanline';
import { MemoryReporter } from 'spanline/exporters/memory';
import { expectTraceShape } from 'spanline/testing';
import { queryName, runQueries } from './client.js';

/** Keep the shapes of `before` in a new store, and hold those of `after` against them; what is said of those that differ. */
export const watchShapes = async (
  port: number,
  directory: string,
  before: readonly string[],
  after: readonly string[],
): Promise<string[]> => {
  const table = await openTable(directory, GOLD_SCHEMA);
  const store = await GoldStore.open(table);
  const memory = new MemoryReporter();
  setReporter(memory);
  const complaints: string[] = [];
  for (const [commit, paths] of [before, after].entries()) {
    const commitInfo = { hash: commit === 0 ? 'as-it-was' : 'changed', timestampMs: Date.now() };
    for (const path of paths) {
      memory.clear();
      await runQueries(port, [path]);
      await flush();
      const shape = { name: queryName(path), gold: { store, commit, commitInfo }, update: commit === 0 };
      await expectTraceShape(memory.spans, shape).catch((error: Error) => {
        if (!(error instanceof AssertionError)) throw error;
        complaints.push(error.message.split('\n')[0]);
      });
    }
  }
  await table.close();
  return complaints;
};
