// A span's way by hand, from `Span.root` to the bytes of OTLP that are handed to HTTP: the files of the core whose code runs on it. Who reads that way must not
// have to go through more of them than there are today.
import { createServer } from 'node:http';
import { Session } from 'node:inspector/promises';
import { expect, test } from 'vitest';
import { Collector } from '../../src/collector/collector.js';
import { OtlpReporter } from '../../src/exporters/otlp.js';
import { LocalSpan } from '../../src/local-span/local-span.js';
import { Span } from '../../src/span/span.js';

const MAX_FILES = 31;

/** What a test runner makes of a name that a file exports: a function that gives it. */
const EXPORT = /^\(\) => \{ try \{ return [\w$.]+ \}/;

const traceOnce = async (collector: Collector): Promise<void> => {
  const root = Span.root('request', undefined, { collector });
  root.run(() => LocalSpan.start('parse').addProperty('bytes', 120).end());
  root.addProperty('status', 200).end();
  expect(await collector.flush()).toEqual({ complete: true, pendingSpans: 0 });
};

test('few files are on the way of a span', async () => {
  const server = createServer((_, answer) => answer.end()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  const collector = new Collector();
  collector.setReporter(new OtlpReporter({ endpoint: `http://127.0.0.1:${port}` }, {}));
  const session = new Session();
  session.connect();
  try {
    // What runs once, such as tests of the context and of the clock, is not on the way of each.
    await traceOnce(collector);
    await session.post('Debugger.enable');
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await traceOnce(collector);
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const files: string[] = [];
    for (const { scriptId, url, functions } of result) {
      const [, file] = /\/src\/(.+)\.ts/.exec(url) ?? [];
      if (file === undefined) continue;
      const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
      const run = functions.map(({ ranges: [range] }) => range).filter(({ count }) => count > 0);
      const texts = run.map(({ startOffset, endOffset }) => scriptSource.slice(startOffset, endOffset));
      if (texts.some((text) => !EXPORT.test(text))) files.push(file);
    }
    if (process.env.SPANLINE_SHOW_WAY) console.log(files.length, files.sort().join(' '));
    expect(files).toContain('span/span');
    expect(files.length).toBeLessThanOrEqual(MAX_FILES);
  } finally {
    session.disconnect();
    await collector.shutdown();
    server.close();
  }
});
