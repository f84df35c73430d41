// Subject: the OpenTelemetry SDK with an exporter that does nothing, or with its OTLP exporter and a sink in another process. SPANLINE_BENCH_OTEL is
// the folder of bench/peers with the version that is asked for.
import { startSink } from '../exporters/start-sink.mjs';
import { casesOf } from './cases.mjs';

const { SPANLINE_BENCH_MODE: mode, SPANLINE_BENCH_OTEL: folder } = process.env;
const { api, contextManager, provider, subject } = await import(`../peers/${folder}/otel.mjs`);

async function makeExporter() {
  if (mode === 'record') return { export: (_spans, done) => done({ code: 0 }), shutdown: async () => {} };
  const { OTLPTraceExporter } = await import(`../peers/${folder}/otlp-exporter.mjs`);
  const { http } = await startSink();
  return new OTLPTraceExporter({ url: `http://127.0.0.1:${http}/v1/traces` });
}

const exporter = await makeExporter();
let arrived = 0;
const counting = {
  export(spans, done) {
    exporter.export(spans, (result) => {
      if (result.code === 0) arrived += spans.length;
      done(result);
    });
  },
  shutdown: () => exporter.shutdown(),
};

api.context.setGlobalContextManager(contextManager.enable());
// Room for all that a round makes: the default of 2,048 would make spans cheap by losing them.
const QUEUE = { maxQueueSize: 1_000_000, maxExportBatchSize: 512, scheduledDelayMillis: 500 };
const tracer = provider(counting, QUEUE).provider.getTracer('service');

/** As instrumentations do it: the span ends when what it is around has. */
const run = (name, options, fn) =>
  tracer.startActiveSpan(name, options, (span) => {
    let result;
    try {
      result = fn();
    } catch (error) {
      span.end();
      throw error;
    }
    if (typeof result?.then !== 'function') {
      span.end();
      return result;
    }
    return result.then(
      (value) => {
        span.end();
        return value;
      },
      (error) => {
        span.end();
        throw error;
      },
    );
  });

const child = (name, fn, key, value) => run(name, key ? { attributes: { [key]: value } } : {}, fn);

export { subject };
export const cases = casesOf({
  root: (name, target, fn) => run(name, { kind: 1, attributes: { 'http.method': 'GET', 'http.target': target } }, fn),
  async: child,
  local: child,
  localOfThree: (name, fn, id) => run(name, { attributes: { id, kind: 'plain', cached: true } }, fn),
  arrived: () => arrived,
});
