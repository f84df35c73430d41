// Records while another thread interrupts it at any moment, where the recorder is to hand over what is newest; compares what it holds with a model of
// what was recorded. Prints the number of interrupts, of comparisons, and what was wrong.
import { setImmediate as turn } from 'node:timers/promises';
import { type FastCall, loadFastCall } from '../../../src/clock/binding.js';
import '../../../src/flight-recorder/index.js';
import { snapshot } from '../../../src/flight-recorder/index.js';
import { NativeRings } from '../../../src/flight-recorder/timeline/native-rings.js';
import { configure, flush, LocalCollector, LocalSpan, Span, setReporter, stats } from '../../../src/index.js';

const addon = loadFastCall().module as Required<FastCall>;

// What the recorder has called behind a full collection, which nobody can have at any moment.
let nearing = (): void => {};
const { heapLimitStart } = addon;
(addon as { heapLimitStart: typeof heapLimitStart }).heapLimitStart = (...given) => {
  nearing = given[4];
  heapLimitStart(...given);
};

configure({
  sampler: ({ name }) => name !== 'here',
  reportThresholdSpans: 300,
  flightRecorder: { timeline: false, triggers: { directory: process.env.FLIGHT_DIR, heapLimit: true } },
});
setReporter({ name: 'nowhere', report: () => turn() });

// The timeline asks V8 to interrupt whatever runs, every fifth of a millisecond.
const ROWS = 16;
let interrupts = 0;
const interrupted = (): void => {
  interrupts++;
  nearing();
};
addon.timelineStart(new NativeRings(ROWS).cells, ROWS, 1000, 0.2, interrupted, new Int32Array(2), () => false);

const churn: unknown[] = [];

const traces = new Map<string, string>();
const ended = new Set<string>();
const note = (span: Span): Span => {
  const { spanId = '', traceId = '' } = span.context ?? {};
  traces.set(spanId, traceId);
  return span;
};
const end = (span: Span): void => {
  ended.add(span.context?.spanId ?? '');
  span.end();
};

const request = async (n: number): Promise<void> => {
  const root = note(Span.root(n % 3 === 0 ? 'here' : `request ${n % 50}`));
  await root.run(async () => {
    for (let i = 0; i < 4; i++) {
      const child = note(Span.startWithLocalParent(`child ${n % 1000}`));
      child.addProperties({ text: `of ${n}`, list: ['a', `b${i}`], n });
      if (n % 7 === i) await turn();
      child.run(() => {
        using local = LocalSpan.start('local');
        local.addEvent('event', { i });
        churn[n % 500] = Array.from({ length: 200 }, (_, k) => ({ k, text: `${k}` }));
      });
      end(child);
    }
    const batch = LocalCollector.start();
    LocalSpan.start('batched').end();
    root.pushChildSpans(batch.collect());
  });
  end(root);
};

const wrong: string[] = [];
let comparisons = 0;
const compare = (): void => {
  comparisons++;
  const seen = new Map<string, boolean>();
  for (const { traceId, spans } of snapshot().traces()) {
    for (const { record, isOpen } of spans) {
      const { spanId, isLocal, name } = record;
      if (seen.has(spanId)) wrong.push(`${name} twice`);
      seen.set(spanId, isOpen);
      if (!isLocal && traces.get(spanId) !== traceId) wrong.push(`${name} is of another trace`);
      if (name.startsWith('child') && !isOpen && record.properties.n === undefined)
        wrong.push(`${name} has lost a property`);
    }
  }
  for (const spanId of traces.keys()) {
    if (seen.get(spanId) !== !ended.has(spanId))
      wrong.push(`${spanId} is ${seen.get(spanId)}, ended: ${ended.has(spanId)}`);
  }
};

for (let n = 0; n < 4000; n += 16) {
  await Promise.all(Array.from({ length: 16 }, (_, i) => request(n + i)));
  if (n % 400 === 0) compare();
  if (n % 800 === 0) await flush();
}
compare();
const { failed, spansEvictedEarly } = stats().flightRecorder ?? {};
console.log(JSON.stringify({ interrupts, comparisons, failed, spansEvictedEarly, wrong: wrong.slice(0, 5) }));
process.exit(0);
