// A timer that nobody traced does two things in one go, while a request waits and a continuous profiler runs; prints the breakdown of the request.
import { setTimeout as sleep } from 'node:timers/promises';
import { continuousProfiler } from '../../../../packages/profile/src/index.js';
import { breakdownIndexOf, monitorEventLoop, snapshot, timeBreakdown } from '../../../../src/flight-recorder/index.js';
import { configure, Span, setReporter } from '../../../../src/index.js';

configure({ flightRecorder: {} });
setReporter({ name: 'nowhere', report: () => {} });

// Calls nothing, so that its samples are in one function, and is called by two.
const compute = (rounds: number): number => {
  let sum = 0;
  for (let i = 0; i < rounds * 1_000_000; i++) sum = (sum + Math.sqrt(i)) % 1000;
  return sum;
};

function readPrices(): number {
  return compute(6);
}
function printLabels(): number {
  return compute(4);
}
function nightlyJob(): number {
  // In turns, so that what the machine takes is taken of both.
  let sum = 0;
  for (let i = 0; i < 10; i++) sum += readPrices() + printLabels();
  return sum;
}

const profiler = await continuousProfiler({ sink: () => {} });
const timeline = monitorEventLoop();
const request = Span.root('GET /wait');
await request.run(() => sleep(20));
await new Promise<void>((resolve) => {
  setTimeout(() => {
    nightlyJob();
    resolve();
  }, 5);
});
await sleep(20);
request.end();
// What the rotation under way has sampled comes with its end.
await profiler.stop();
const taken = snapshot();
const { traceId = '', spanId = '' } = request.context ?? {};
const breakdown = timeBreakdown(breakdownIndexOf(taken), { traceId, spanId });
console.log(JSON.stringify({ breakdown, stats: timeline.stats() }));
process.exit(0);
