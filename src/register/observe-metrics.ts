// The counters of `stats()` among the program's own metrics, as soon as it sets a MeterProvider: where all copies of OpenTelemetry's API keep what
// was set, which must go on as it was.
import type { MeterProvider } from '@opentelemetry/api';
import { apiGlobal } from '../otel/api-global.js';
import { observeStats } from '../otel/stats-metrics.js';

/** A provider that cannot be observed is the program's own. */
export const observeProvider = (provider: MeterProvider): void => {
  try {
    observeStats(provider);
  } catch {
    // Nothing of it is ours.
  }
};

/** Once a copy of the API keeps something there, which it makes itself. */
export const observeMetrics = (): void => {
  const global = apiGlobal();
  if (global === undefined || global.metrics !== undefined) return;
  const keep = (value: MeterProvider | undefined): void => {
    Object.defineProperty(global, 'metrics', { value, configurable: true, enumerable: true, writable: true });
  };
  Object.defineProperty(global, 'metrics', {
    configurable: true,
    enumerable: true,
    get: () => undefined,
    set(provider: MeterProvider) {
      keep(provider);
      observeProvider(provider);
    },
  });
};
