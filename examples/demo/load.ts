// A light load that goes on while the page is looked at: some eight queries a second, one of fifty a mistake, now and then one that keeps the event
// loop busy.
import { setTimeout as sleep } from 'node:timers/promises';
import { runQueries } from './client.js';

const PAUSE_MS = 120;
const MISTAKE_EVERY = 50;
const REPORT_EVERY = 80;

/** Ask until `signal` fires. */
export const keepAsking = async (port: number, queries: readonly string[], signal: AbortSignal): Promise<void> => {
  for (let i = 1; !signal.aborted; i++) {
    const paths = [queries[i % queries.length]];
    if (i % MISTAKE_EVERY === 0) paths.push('/statistics?of=nothing');
    // Those that come behind it wait.
    if (i % REPORT_EVERY === 0) paths.unshift('/report');
    // A mistake is in its trace.
    await runQueries(port, paths).catch(() => {});
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
};
