// Uses everything while the library is off; prints what was recorded, counted and frozen.
import {
  configure,
  flush,
  LocalCollector,
  LocalSpan,
  Span,
  SpanContext,
  setReporter,
  stats,
  trace,
  traced,
  tracePromise,
} from 'spanline';

if (process.argv[2] === 'option') configure({ disabled: true });
let reported = 0;
let callbacks = 0;
setReporter({
  name: 'r',
  report: (batch) => {
    reported += batch.spanCount;
  },
});
const properties = () => {
  callbacks++;
  return { a: 1 };
};
const use = async (): Promise<unknown[]> => {
  const root = Span.root('root', SpanContext.random(), { properties });
  const results = await root.run(async () => {
    LocalSpan.start('a').addProperties(properties).end();
    LocalSpan.addProperties(properties);
    using _scope = root.enter();
    const child = Span.startWithLocalParent('b', { properties });
    Span.start('c', [root, child], { properties }).addProperties(properties).end();
    const [, spans] = LocalCollector.run(() => LocalSpan.start('d').end());
    root.pushChildSpans(spans);
    const [own, collector] = Span.rootWithCollector('e');
    own.end();
    return [
      trace('f', () => 1),
      await trace('g', async () => 2),
      await traced({ name: 'h', properties }, async (x: number) => x)(3),
      [
        ...traced({ properties }, function* () {
          yield 4;
        })(),
      ],
      await tracePromise('i', Promise.resolve(5)),
      spans.count,
      (await collector.collect()).length,
      Object.isFrozen(root) && Object.isFrozen(LocalSpan.start('j')) && root === Span.noop(),
    ];
  });
  root.end();
  root.cancel();
  return results;
};
const results = await use();
await flush();
const { collector: _, clock: __, context: ___, ...counters } = stats();
const counted = Object.values(counters).filter((value) => value !== 0).length;
const off = { results, reported, callbacks, counted };
configure({ disabled: false });
await use();
await flush();
console.log(JSON.stringify({ off, onReported: reported, onCallbacks: callbacks }));
