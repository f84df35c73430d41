// Loaded into a service: OpenTelemetry's metrics SDK with those official instrumentations that measure. Prints at the end what was measured.
const { metrics } = require('@opentelemetry/api');
const { registerInstrumentations } = require('@opentelemetry/instrumentation');
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { PgInstrumentation } = require('@opentelemetry/instrumentation-pg');
const { UndiciInstrumentation } = require('@opentelemetry/instrumentation-undici');
const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node');
const sdk = require('@opentelemetry/sdk-metrics');

const exporter = new sdk.InMemoryMetricExporter(sdk.AggregationTemporality.CUMULATIVE);
const reader = new sdk.PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1e6 });
const meterProvider = new sdk.MeterProvider({ readers: [reader] });
metrics.setGlobalMeterProvider(meterProvider);
// Express tells the route to the span of the request.
new NodeTracerProvider().register();
registerInstrumentations({
  meterProvider,
  instrumentations: [
    new HttpInstrumentation(),
    new ExpressInstrumentation(),
    new UndiciInstrumentation(),
    new PgInstrumentation(),
  ],
});

process.once('over', async () => {
  await reader.forceFlush();
  const scopes = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
  const points = scopes.flatMap(({ metrics: all }) =>
    all.flatMap(({ descriptor: { name, unit }, dataPoints }) =>
      dataPoints.map(({ attributes, value }) => ({
        ...{ name, unit, attributes, count: value.count ?? value, sum: value.sum },
        boundaries: value.buckets?.boundaries,
      })),
    ),
  );
  console.log(JSON.stringify(points));
  await meterProvider.shutdown();
});
