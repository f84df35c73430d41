// Has metrics of its own. It knows nothing of tracing.
const { metrics } = require('@opentelemetry/api');
const sdk = require('@opentelemetry/sdk-metrics');

const exporter = new sdk.InMemoryMetricExporter(sdk.AggregationTemporality.CUMULATIVE);
const reader = new sdk.PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1e6 });
const provider = new sdk.MeterProvider({ readers: [reader] });
if (!metrics.setGlobalMeterProvider(provider)) throw new Error('refused');
if (metrics.getMeterProvider() !== provider) throw new Error('another provider');
metrics.getMeter('shop').createCounter('orders').add(1);

reader.forceFlush().then(async () => {
  const scopes = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
  console.log(JSON.stringify(scopes.flatMap((scope) => scope.metrics.map(({ descriptor }) => descriptor.name))));
  await provider.shutdown();
  metrics.disable();
});
