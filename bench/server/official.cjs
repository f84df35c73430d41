// Loaded into a service: OpenTelemetry's SDK with its official instrumentations, the exporter after SPANLINE_BENCH_MODE.
const { BatchSpanProcessor, NodeTracerProvider } = require('@opentelemetry/sdk-trace-node');

const NOOP = { export: (_spans, done) => done({ code: 0 }), shutdown: async () => {}, forceFlush: async () => {} };

const exporter = () => {
  if (process.env.SPANLINE_BENCH_MODE !== 'send') return NOOP;
  const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter();
};

// Without a provider the instrumentations alone are measured.
if (process.env.SPANLINE_BENCH_MODE !== 'patched') {
  const processor = new BatchSpanProcessor(exporter(), { maxQueueSize: 1 << 20, maxExportBatchSize: 8192 });
  new NodeTracerProvider({ spanProcessors: [processor] }).register();
}
if (process.env.SPANLINE_BENCH_MODE === 'metrics') {
  const { metrics } = require('@opentelemetry/api');
  const { MeterProvider, PeriodicExportingMetricReader } = require('@opentelemetry/sdk-metrics');
  metrics.setGlobalMeterProvider(
    new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter: NOOP })] }),
  );
}
require('./instrumentations.cjs');
