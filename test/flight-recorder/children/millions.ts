// Records FLIGHT_SPANS spans with the recorder on: prints what it holds, and memory on the way, every millionth span, after a collection.
import '../../../src/flight-recorder/index.js';
import { configure, Span, setReporter, stats } from '../../../src/index.js';

configure({ flightRecorder: { maxBytes: 32 << 20 } });
setReporter({ name: 'noop', keepsNoTrace: true, report() {} });

const SPANS = Number(process.env.FLIGHT_SPANS);
const buffered: number[] = [];
const rss: number[] = [];
let maxBytes = 0;
for (let n = 0; n < SPANS; ) {
  for (let i = 0; i < 5000; i++) {
    const root = Span.root('request');
    root.addProperty('n', i);
    for (let child = 0; child < 9; child++) Span.start('child', root).end();
    root.end();
    n += 10;
  }
  await new Promise((resolve) => setImmediate(resolve));
  maxBytes = Math.max(maxBytes, stats().flightRecorder?.bytes ?? Number.POSITIVE_INFINITY);
  if (n % 1_000_000 !== 0) continue;
  gc?.();
  const { heapUsed, external, rss: resident } = process.memoryUsage();
  buffered.push(heapUsed + external);
  rss.push(resident);
}
const { spans = 0, spansEvictedEarly = 0, failed = -1 } = stats().flightRecorder ?? {};
console.log(JSON.stringify({ held: buffered, rss, maxBytes, total: spans + spansEvictedEarly, spans, failed }));
