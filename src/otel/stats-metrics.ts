// The counters of `stats()` as observable counters of a MeterProvider: how many spans were lost, and why, beside the program's own metrics.
import type { BatchObservableResult, MeterProvider, Observable } from '@opentelemetry/api';
import { stats } from '../collector/default-collector.js';
import { LIBRARY_NAME, LIBRARY_VERSION } from '../formats/library.js';

const GAUGES = [
  'openTraces',
  'openBytes',
  'readyTraces',
  'readyBytes',
  'readySpans',
  'rowChunks',
  'rowBytes',
  'rowChunksPooled',
];

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Observe the counters of `stats()` with a meter of this provider, as `spanline.*`. Gives the function that stops it.
 *
 * @example
 * ```ts
 * import { metrics } from '@opentelemetry/api';
 * import { observeStats } from 'spanline/otel';
 *
 * const stop = observeStats(metrics.getMeterProvider());
 * stop();
 * ```
 */
export const observeStats = (provider: MeterProvider): (() => void) => {
  const meter = provider.getMeter(LIBRARY_NAME, LIBRARY_VERSION);
  const instruments = new Map<string, Observable>();
  const read = (): [string, number, boolean][] => {
    const { collector, clock, context: _, ...counters } = stats();
    const numbers = (of: object, before: string): [string, number, boolean][] =>
      Object.entries(of).flatMap(([key, value]) =>
        typeof value === 'number' ? [[`spanline.${before}${snake(key)}`, value, GAUGES.includes(key)]] : [],
      );
    return [...numbers(counters, ''), ...numbers(collector, 'collector.'), ...numbers(clock, 'clock.')];
  };
  for (const [name, , isGauge] of read()) {
    instruments.set(name, isGauge ? meter.createObservableGauge(name) : meter.createObservableCounter(name));
  }
  const observe = (result: BatchObservableResult): void => {
    for (const [name, value] of read()) {
      const instrument = instruments.get(name);
      if (instrument !== undefined) result.observe(instrument, value);
    }
  };
  const all = [...instruments.values()];
  meter.addBatchObservableCallback(observe, all);
  return () => meter.removeBatchObservableCallback(observe, all);
};
