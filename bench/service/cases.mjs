// The cases of a subject of the service suite, one a shape and one for HTTP, and what a round of one gives: totals of the whole process, which the
// suite compares with those of the untraced subject. Must never force a garbage collection.
import { readFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpRounds } from './http.mjs';
import { SHAPES, serveRequests } from './shapes.mjs';

const SETTLE_MS = { full: 500, quick: 100 };
const RSS_EVERY_MS = 50;
/** What has not arrived by then is lost. */
const ARRIVAL_MS = 20_000;

let gcMs = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) gcMs += duration;
}).observe({ entryTypes: ['gc'] });

const microseconds = ({ user, system }) => user + system;

/** CPU time of the main thread in us: from Node where it tells, else from Linux, else undefined. */
function mainThreadUs() {
  if (process.threadCpuUsage) return microseconds(process.threadCpuUsage());
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
  } catch {
    return undefined;
  }
}

const totals = () => ({ cpuUs: microseconds(process.cpuUsage()), mainUs: mainThreadUs(), gcUs: gcMs * 1000 });

/** Adds up what a process spends; rounds follow each other without a gap, so that what a subject puts off is not free. */
export class Meter {
  #before = totals();
  #arrived = 0;

  constructor(tracer) {
    this.tracer = tracer;
  }

  async #whenArrived(spans) {
    const wanted = this.#arrived + spans;
    for (const end = performance.now() + ARRIVAL_MS; this.tracer.arrived() < wanted && performance.now() < end; )
      await sleep(10);
    const lost = wanted - this.tracer.arrived();
    this.#arrived = this.tracer.arrived();
    return lost;
  }

  /** @param {() => Promise<{ requests: number, spans: number }>} work */
  async round(work, quick) {
    let rss = process.memoryUsage.rss();
    const watch = setInterval(() => {
      rss = Math.max(rss, process.memoryUsage.rss());
    }, RSS_EVERY_MS);
    const { requests, spans, ...rest } = await work();
    const lost = this.tracer.arrived === undefined ? 0 : await this.#whenArrived(spans);
    await sleep(quick ? SETTLE_MS.quick : SETTLE_MS.full);
    clearInterval(watch);
    const now = totals();
    const before = this.#before;
    this.#before = now;
    return {
      ...rest,
      requests,
      spans,
      lost,
      rssMb: rss / 1e6,
      cpuUs: now.cpuUs - before.cpuUs,
      gcUs: now.gcUs - before.gcUs,
      mainUs: now.mainUs === undefined ? undefined : now.mainUs - before.mainUs,
      mainBy: process.threadCpuUsage ? 'process.threadCpuUsage' : "Linux's schedstat",
    };
  }
}

/** A tracer of `shapes.mjs`; `arrived`, which the untraced one lacks: how many spans the reporter, sink or archive has taken. */
export function casesOf(tracer) {
  // A server that listens would outlive the suite.
  process.once('disconnect', () => process.exit());
  const meter = new Meter(tracer);
  const inProcess = Object.entries(SHAPES).map(([name, shape]) => ({
    name,
    n: process.env.SPANLINE_BENCH_MODE,
    unit: 'us',
    measure: ({ quick }) =>
      meter.round(async () => {
        const requests = quick ? shape.quickRequests : shape.requests;
        await serveRequests(shape, tracer, requests);
        return { requests, spans: requests * shape.spans };
      }, quick),
  }));
  const http = new HttpRounds(tracer, meter);
  return [
    ...inProcess,
    { name: 'http', n: process.env.SPANLINE_BENCH_MODE, unit: 'us', measure: (timing) => http.round(timing) },
  ];
}
