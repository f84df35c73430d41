// Records 100,000 random trees; prints what is wrong with them: children outside their parents, negative durations, times
// without nanosecond digits, parents that are missing.
import { Collector, clockInfo, LocalSpan, Span, type SpanRecord } from 'spanline';

const TREES = Number(process.argv[2]);
const MAX_LOCAL = 8;

// mulberry32: the same trees each time.
let seed = 42;
const random = (): number => {
  seed = (seed + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), seed | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};
const below = (n: number): number => Math.floor(random() * n);

const found = { trees: 0, spans: 0, outside: 0, negative: 0, orphans: 0, eventsOutside: 0 };
const lastDigits = new Set<number>();

const check = (spans: readonly SpanRecord[]): void => {
  found.trees++;
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  for (const span of spans) {
    found.spans++;
    lastDigits.add(span.startNano % 1000);
    if (span.durationNs < 0) found.negative++;
    for (const event of span.events) {
      if (event.timeUnixNs < span.startUnixNs || event.timeUnixNs > span.endUnixNs) found.eventsOutside++;
    }
    if (span.parentSpanId === '') continue;
    const parent = byId.get(span.parentSpanId);
    if (parent === undefined) found.orphans++;
    else if (span.startUnixNs < parent.startUnixNs || span.endUnixNs > parent.endUnixNs) found.outside++;
  }
};

const localTree = (room: number): void => {
  let left = room;
  while (left-- > 0) {
    using span = LocalSpan.start('local');
    if (random() < 0.2) span.addEvent('e');
    if (random() < 0.5) {
      const inner = below(left + 1);
      left -= inner;
      localTree(inner);
    }
  }
};

const spanTree = async (parent: Span, depth: number): Promise<void> => {
  localTree(below(MAX_LOCAL));
  if (depth === 0 || random() < 0.6) return;
  const child = Span.start('child', parent);
  // A task that goes on elsewhere may go on on another core.
  if (random() < 0.05) await new Promise((resolve) => setImmediate(resolve));
  await child.run(() => spanTree(child, depth - 1));
  child.end();
};

const collector = new Collector();
collector.setReporter({
  name: 'check',
  report: (batch) => {
    for (const trace of batch.traces) check(trace.spans);
  },
});
for (let i = 0; i < TREES; i++) {
  const root = Span.root('root', undefined, { collector });
  if (random() < 0.3) await root.run(() => spanTree(root, 3));
  else root.run(() => localTree(below(MAX_LOCAL)));
  root.end();
  if (i % 5000 === 0) await collector.flush();
}
await collector.flush();
const { source, path, cores } = clockInfo();
console.log(JSON.stringify({ ...found, digits: lastDigits.size, source, path, cores }));
