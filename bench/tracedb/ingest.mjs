// What the ingest cases write, the same for every subject: points of one commit at a time into a store that no one used before.
// `new`: traces the store does not have, whose index rows are written too. `known`: five more commits of the same traces.
import { rmSync } from 'node:fs';
import { pointsOf, SOURCE, TIME_MS } from './shape.mjs';
import { scratchPath } from './store.mjs';
import { rateCase, TRACES } from './support.mjs';

const NEW = TRACES / 50;
const COMMITS = 5;

const write = (commit) => [{ commit, source: SOURCE, timestampMs: TIME_MS, points: pointsOf(0, NEW, TRACES, commit) }];

/** The calls of `PerfStore.write` of each case: those before the clock starts, and those that are timed. */
const WRITES = {
  new: { before: [], timed: [write(0)] },
  known: { before: [write(0)], timed: Array.from({ length: COMMITS }, (_, i) => write(i + 1)) },
};

/**
 * The ingest cases of a subject.
 * @param {(path: string, writes: object[]) => Promise<{ write: (commits: object) => Promise<unknown>, close: () => Promise<void> }>} open
 */
export const ingestCases = (open) =>
  Object.entries(WRITES).map(([n, { before, timed }]) => {
    const path = scratchPath(n);
    let store;
    return rateCase({
      name: 'ingest',
      n,
      unit: 'points/s',
      note: `${NEW} points a commit, 8 params a trace, commits written one by one${n === 'new' ? ', with the index rows of new traces' : ''}`,
      prepare: async () => {
        rmSync(path, { recursive: true, force: true });
        store = await open(path, [...before, ...timed]);
        for (const commits of before) await store.write(commits);
      },
      body: async () => {
        for (const commits of timed) await store.write(commits);
        return timed.length * NEW;
      },
      clean: async () => {
        await store.close();
        rmSync(path, { recursive: true, force: true });
      },
    });
  });
