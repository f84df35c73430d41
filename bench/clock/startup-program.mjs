// Loads spanline, records one trace and prints what both took: `import` is CPU time of all threads, `first-span` the
// caller's time from the first call to the end of the first local span. Run by startup.mjs.
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const before = cpuMs();
const { LocalSpan, Span, SpanContext } = await import('../../dist/esm/index.js');
const imported = cpuMs() - before;

const begin = performance.now();
const root = Span.root('root', SpanContext.random());
root.run(() => LocalSpan.start('span').end());
root.end();
const firstSpan = performance.now() - begin;

process.stdout.write(JSON.stringify({ import: imported, 'first-span': firstSpan }));
