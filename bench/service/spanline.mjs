// Subject: spanline, to a reporter that does nothing, the same with the flight recorder on, to an OTLP sink in another process, to an archive, or to
// one that leaves sorting to another process; SPANLINE_BENCH_MODE says which.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { configure, LocalSpan, Span, setReporter, stats } from '../../dist/esm/index.js';
import { root as checkout } from '../../scripts/lib/run.mjs';
import { startSink } from '../exporters/start-sink.mjs';
import { casesOf } from './cases.mjs';

const noop = () => ({ name: 'noop', keepsNoTrace: true, report() {} });

async function archiveReporter(options) {
  const { Archive, ArchiveReporter } = await import('../../packages/archive/dist/esm/index.js');
  // Beside the checkout's other files: /tmp may be memory.
  const directory = mkdtempSync(join(checkout, '.tmp/bench-service-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  // Subjects are stopped by a signal, which alone would leave the directory behind.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.once(signal, () => process.exit());
  return new ArchiveReporter(await Archive.open(directory, options));
}

const REPORTERS = {
  record: noop,
  flight() {
    configure({ flightRecorder: {} });
    return noop();
  },
  async send() {
    const { OtlpReporter } = await import('../../dist/esm/exporters/otlp.js');
    const { http } = await startSink();
    return new OtlpReporter({ endpoint: `http://127.0.0.1:${http}` });
  },
  archive: () => archiveReporter(),
  // `spanline serve`, or whoever has the archive open with `maintain`, sorts.
  'archive-unsorted': () => archiveReporter({ maintain: false }),
};

const reporter = await REPORTERS[process.env.SPANLINE_BENCH_MODE]();
setReporter(reporter);

export const tracer = {
  root(name, target, fn) {
    const span = Span.root(name, undefined, { kind: 'server' });
    span.addProperty('http.method', 'GET').addProperty('http.target', target);
    return span.runToEnd(fn);
  },
  async(name, fn, key, value) {
    const span = Span.startWithLocalParent(name);
    if (key) span.addProperty(key, value);
    return span.runToEnd(fn);
  },
  local(name, fn, key, value) {
    const span = LocalSpan.start(name);
    if (key) span.addProperty(key, value);
    try {
      return fn();
    } finally {
      span.end();
    }
  },
  localOfThree(name, fn, id) {
    const span = LocalSpan.start(name).addProperty('id', id).addProperty('kind', 'plain').addProperty('cached', true);
    try {
      return fn();
    } finally {
      span.end();
    }
  },
  arrived: () => stats().collector.reporters[reporter.name].reportedSpans,
};

export const subject = 'spanline';
export const cases = casesOf(tracer);
