// The recording cases of an OpenTelemetry SDK, whichever version is handed in.
import { asyncSpan, bare, perSpan, wholeTrace } from './shape.mjs';

/** Large enough that nothing is dropped between two flushes; the default of 2048 would make spans cheap by losing them. */
const QUEUE = { maxQueueSize: 1 << 20, maxExportBatchSize: 512 };

const noopExporter = {
  export: (_spans, done) => done({ code: 0 }),
  shutdown: async () => {},
  forceFlush: async () => {},
};

export function recordingCases({ api, contextManager, provider }) {
  const { context, trace, ProxyTracerProvider, TraceFlags } = api;
  const made = provider(noopExporter, QUEUE);
  context.setGlobalContextManager(contextManager.enable());
  const tracer = made.provider.getTracer('bench');
  const drain = () => made.processor.forceFlush();

  const endAtOnce = (span) => span.end();
  const withProperty = (span) => {
    span.setAttribute('key', 'value');
    span.end();
  };

  const nested = (body) => (n) =>
    tracer.startActiveSpan('root', (root) => {
      for (let i = 0; i < n; i++) tracer.startActiveSpan('span', body);
      root.end();
    });
  const plain = (n) =>
    tracer.startActiveSpan('root', (root) => {
      for (let i = 0; i < n; i++) tracer.startSpan('span').end();
      root.end();
    });
  const events = (n) =>
    tracer.startActiveSpan('root', (root) => {
      for (let i = 0; i < n; i++) root.addEvent('event');
      root.end();
    });

  const unsampled = trace.setSpanContext(context.active(), {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    traceFlags: TraceFlags.NONE,
    isRemote: true,
  });
  const underUnsampled = (n) =>
    tracer.startActiveSpan('root', {}, unsampled, (root) => {
      for (let i = 0; i < n; i++) tracer.startActiveSpan('span', endAtOnce);
      root.end();
    });

  // What an application pays that calls the API with no SDK registered.
  const off = new ProxyTracerProvider().getTracer('bench');
  const disabled = (n) => {
    for (let i = 0; i < n; i++) off.startActiveSpan('span', endAtOnce);
  };

  const inTrace = (body) =>
    tracer.startActiveSpan('root', async (root) => {
      await body();
      root.end();
    });
  const tracedBare = (value) =>
    tracer.startActiveSpan('span', async (span) => {
      try {
        return await bare(value);
      } finally {
        span.end();
      }
    });

  return [
    ...perSpan('local-span', nested(endAtOnce), drain),
    ...perSpan('local-span-unsampled', underUnsampled, drain),
    ...perSpan('disabled', disabled, undefined, [100]),
    // A span keeps 128 events and refuses more, so longer traces would measure the refusal.
    ...perSpan('event', events, drain, [10, 100]),
    ...perSpan('local-span-1-property', nested(withProperty), drain),
    ...perSpan('span', plain, drain),
    ...asyncSpan(inTrace, tracedBare, drain),
    wholeTrace(() => tracer.startSpan('root').end(), drain),
  ];
}
