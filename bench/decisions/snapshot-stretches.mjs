// Question: for how long does a snapshot of 500,000 spans hold the event loop, by format, its taking included?
// Answer: on two virtual cores that others disturb, Node 24: 3 to 8 ms for otlp-lines, 4 to 15 ms for the others, of which a collection is rarely a
// part; the raw format, which only writes, shows the same 3 to 15 ms: what is over 5 ms is the machine's, as far as can be told here.
// Run: node scripts/build.mjs, then node bench/decisions/snapshot-stretches.mjs [ROUNDS]; 5 unless told. A stretch is the time between two turns that
// follow each other at once; what garbage collection takes in it is counted and said.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PerformanceObserver, performance } from 'node:perf_hooks';
import { SNAPSHOT_FORMATS, snapshot, writeSnapshot } from '../../dist/esm/flight-recorder/index.js';
import { configure, LocalSpan, Span, setReporter } from '../../dist/esm/index.js';

const [rounds = '5'] = process.argv.slice(2);
const SPANS = 500_000;
const A_TRACE = 10;

const directory = mkdtempSync(join(tmpdir(), 'snapshot-stretches-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

const collections = [];
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) collections.push({ startTime, duration });
}).observe({ entryTypes: ['gc'] });

setReporter({ name: 'nowhere', report: () => {} });
configure({ flightRecorder: { maxBytes: 128 * 2 ** 20, minAgeMs: 600_000 } });
for (let i = 0; i < SPANS / A_TRACE; i++) {
  const root = Span.root('GET /orders', undefined, { kind: 'server', properties: { 'url.path': '/orders', id: i } });
  root.run(() => {
    for (let child = 1; child < A_TRACE; child++) LocalSpan.start(`step ${child}`).addProperty('rows', child).end();
  });
  root.end();
  if (i % 500 === 0) await new Promise(setImmediate);
}
await new Promise((resolve) => setTimeout(resolve, 2000));

/** Stretches while `work` goes on, the longest first. */
const stretchesOf = async (work) => {
  const found = [];
  let isOver = false;
  let before = performance.now();
  const turn = () => {
    const now = performance.now();
    if (now - before > 2) found.push({ startTime: before, ms: now - before });
    before = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  await new Promise((resolve) => setTimeout(resolve, 50));
  return found.sort((a, b) => b.ms - a.ms);
};

const collectedIn = ({ startTime, ms }) =>
  collections
    .filter((one) => one.startTime >= startTime && one.startTime < startTime + ms)
    .reduce((sum, { duration }) => sum + duration, 0);

console.log(`Node ${process.version}, ${SPANS} spans in traces of ${A_TRACE}; the longest stretch of each round`);
for (const format of SNAPSHOT_FORMATS) {
  const longest = [];
  for (let round = 0; round < Number(rounds); round++) {
    const [most] = await stretchesOf(() =>
      writeSnapshot(snapshot(), join(directory, `${format}-${round}`), { format }),
    );
    longest.push(most === undefined ? 'under 2 ms' : `${most.ms.toFixed(1)} ms (gc ${collectedIn(most).toFixed(1)})`);
  }
  console.log(`${format}: ${longest.join(', ')}`);
}
