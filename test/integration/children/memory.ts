// Records five million spans in traces of different shapes; prints the heap after a warm-up and at the end.
import { Collector, LocalSpan, Span } from 'spanline';

const SPANS = Number(process.argv[2]);
const collector = new Collector();
let reported = 0;
collector.setReporter({
  name: 'count',
  report(batch) {
    reported += batch.spanCount;
    // Makes the records, as an encoder would.
    for (const trace of batch.traces) trace.spanAt(trace.spanCount - 1);
  },
});

const heap = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};

let recorded = 0;
const round = async (): Promise<void> => {
  for (let i = 0; i < 100; i++) {
    const root = Span.root('root', undefined, { collector });
    await root.run(async () => {
      for (let j = 0; j < 90; j++) LocalSpan.start(`name ${j}`).addProperty('j', j).end();
      await null;
      for (let j = 0; j < 8; j++) {
        const child = Span.startWithLocalParent('child');
        child.addEvent('e', { j }).end();
      }
    });
    root.end();
    recorded += 99;
    if (i % 10 === 0) {
      Span.root('cancelled', undefined, { collector }).cancel();
      // Never ended: held by its bound alone.
      Span.root('open', undefined, { collector }).addProperty('i', i);
    }
  }
  await collector.flush();
};

collector.configure({ maxOpenTraces: 100 });
while (recorded < SPANS / 10) await round();
const warm = heap();
while (recorded < SPANS) await round();
console.log(JSON.stringify({ warm, end: heap(), recorded, reported }));
