// The metrics that the environment asks for. Only here is `src/metrics` loaded, and only where something is to be measured; a wrong variable is warned of
// and left out, and a service starts without metrics that cannot be made.
import { resolveOtlpOptions } from '../exporters/otlp/options.js';
import type { OtlpMetricsSettings, PrometheusSettings } from '../metrics/start-metrics.js';
import type { Log } from './log.js';
import { withoutFaults } from './reporters.js';
import type { MetricsExporterName, Settings } from './settings.js';
import { onMeterProvider } from './share-parts.js';
import { Variables } from './variables.js';

/** `lowmemory` is what `delta` is here: nothing but sums that grow is a difference. */
const TEMPORALITIES = ['cumulative', 'delta', 'lowmemory'] as const;

/** `always_on` is `trace_based` here: an exemplar without a trace leads nowhere. */
const EXEMPLARS = ['trace_based', 'always_on', 'always_off'] as const;

const INTERVAL_MS = 60_000;
const TIMEOUT_MS = 30_000;
const PORT = 9464;
const MAX_PORT = 65_535;

const otlpOf = (variables: Variables, log: Log): OtlpMetricsSettings => {
  const otlp = withoutFaults((env) => resolveOtlpOptions({}, env, 'METRICS'), log);
  if (otlp.protocol === 'json') log.warn('Metrics go out as http/protobuf: http/json is for traces.');
  const name = 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE';
  return {
    otlp,
    temporality: variables.word(name, TEMPORALITIES, 'cumulative') === 'cumulative' ? 'cumulative' : 'delta',
    intervalMs: variables.whole('OTEL_METRIC_EXPORT_INTERVAL', 1) ?? INTERVAL_MS,
    timeoutMs: variables.whole('OTEL_METRIC_EXPORT_TIMEOUT', 1) ?? TIMEOUT_MS,
  };
};

const prometheusOf = (variables: Variables): PrometheusSettings => ({
  host: variables.text('OTEL_EXPORTER_PROMETHEUS_HOST') ?? 'localhost',
  port: variables.whole('OTEL_EXPORTER_PROMETHEUS_PORT', 0, MAX_PORT) ?? PORT,
  allowedHosts: variables.list('SPANLINE_PROMETHEUS_ALLOWED_HOSTS').map((name) => name.toLowerCase()),
});

const settingsOf = (names: readonly MetricsExporterName[], log: Log) => {
  const variables = new Variables(process.env, (message) => log.warn(message));
  return {
    hasExemplars: variables.word('OTEL_METRICS_EXEMPLAR_FILTER', EXEMPLARS, 'trace_based') !== 'always_off',
    ...(names.includes('otlp') ? { otlp: otlpOf(variables, log) } : {}),
    ...(names.includes('prometheus') ? { prometheus: prometheusOf(variables) } : {}),
  };
};

/** Resolves when everything that comes is measured. */
export const startMetricsOf = async ({ metrics: names }: Settings, log: Log): Promise<void> => {
  if (names.length === 0) return;
  // Two threads that send the same sums as one process would take turns in them.
  if (!process.getBuiltinModule('node:worker_threads').isMainThread) {
    log.debug('metrics are those of the main thread');
    return;
  }
  try {
    const { startMetrics } = await import('../metrics/start-metrics.js');
    const [warn, debug] = [(message: string) => log.warn(message), (message: string) => log.debug(message)];
    startMetrics({ ...settingsOf(names, log), onProvider: onMeterProvider, warn, debug });
  } catch (error) {
    log.error(`nothing is measured: ${(error as Error).message}`);
  }
};
