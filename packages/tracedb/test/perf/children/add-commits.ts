// One of several processes that add commits to one list at the same time. Argument: location. Each line of standard input, `FROM TO`, is
// a list of commits to add; their numbers must be their own. At the end it says how often another process was faster.
import { createInterface } from 'node:readline';
import { CommitLog } from '../../../src/perf/commit-log.js';
import { PERF_SCHEMA } from '../../../src/perf/perf-store.js';
import { openTable } from '../../../src/table/open-table.js';
import type { WideColumnTable } from '../../../src/table/wide-column-table.js';

const table = await openTable(process.argv[2] as string, PERF_SCHEMA);
let refused = 0;
const counting: WideColumnTable = new Proxy(table, {
  get(target, name) {
    const value: unknown = Reflect.get(target, name);
    if (typeof value !== 'function') return value;
    if (name !== 'checkAndMutateRow') return value.bind(target) as unknown;
    return async (...args: Parameters<WideColumnTable['checkAndMutateRow']>) => {
      const buffered = await target.checkAndMutateRow(...args);
      if (buffered !== (args[2].then !== undefined)) refused++;
      return buffered;
    };
  },
});
const log = new CommitLog(counting);
console.log('ready');
let round = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const [from, to] = line.split(' ').map(Number) as [number, number];
  const commits = Array.from({ length: to - from }, (_, i) => ({
    hash: `c${from + i}`,
    timestampMs: 1_000_000 + from + i,
  }));
  const numbers = await log.add(commits);
  const wrong = numbers.findIndex((number, i) => number !== from + i);
  if (wrong !== -1) throw new Error(`commit c${from + wrong} has the number ${numbers[wrong]}`);
  console.log(`round ${round++}`);
}
await table.close();
console.log(`refused ${refused}`);
