// Metrics of a process, put together as `register` asks: what is measured, who reads it, and the last export. This is the only file that register loads of
// this module, and only when metrics are asked for. It must not throw: a service starts without its metrics.

import type { MeterProvider } from '@opentelemetry/api';
import { defaultCollector } from '../collector/default-collector.js';
import { onSignal } from '../collector/exit.js';
import { state } from '../context/process-state.js';
import { ownResource } from '../formats/library.js';
import type { ArchivedResource } from '../record/archived-span.js';
import { LibraryMetrics } from './library-metrics.js';
import { OtlpMetricExporter, type OtlpMetricOptions } from './otlp-exporter.js';
import { useProvider } from './program-provider.js';
import { PrometheusServer, type PrometheusServerOptions } from './prometheus-server.js';
import { Instruments, Reader, type Temporality } from './reader.js';
import { measureRecorder } from './recorder-metrics.js';
import { measureRuntime } from './runtime-metrics.js';
import { measureSpans } from './span-durations.js';

/** Where metrics go. */
export interface MetricsOptions {
  readonly otlp?: OtlpMetricsSettings;
  readonly prometheus?: PrometheusSettings;
  /** Buckets name a trace that is in them. */
  readonly hasExemplars: boolean;
  /** Calls `use` with each MeterProvider that the program sets, and with one that it has set. */
  onProvider(use: (provider: MeterProvider) => void): void;
  warn(message: string): void;
  debug(message: string): void;
}

export interface OtlpMetricsSettings extends Pick<OtlpMetricOptions, 'otlp' | 'intervalMs' | 'timeoutMs'> {
  readonly temporality: Temporality;
}

export type PrometheusSettings = Pick<PrometheusServerOptions, 'host' | 'port' | 'allowedHosts'>;

/** Processes of a cluster, which each need a port. */
const MAX_CLUSTER_PORTS = 256;
const isOfCluster = (): boolean =>
  (process.getBuiltinModule('node:cluster') as unknown as { readonly isWorker: boolean }).isWorker;

type Stop = () => void;

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

const resource = (): ArchivedResource => ownResource(defaultCollector().life.resource);

/** The last export, however the process ends: empty, by a signal, or at once. Until what it gives is called. */
const exportAtExit = (exporter: OtlpMetricExporter, recorded: () => number): Stop => {
  let exported = -1;
  let isStopped = false;
  const isNew = (): boolean => !isStopped && recorded() !== exported;
  // Not before it is over: a program that ends itself meanwhile, as many do at a signal, would end without it.
  const exportLast = async (): Promise<void> => {
    if (isStopped) return;
    const records = recorded();
    await exporter.exportLast();
    exported = records;
  };
  process.on('beforeExit', () => {
    if (isNew()) void exportLast();
  });
  for (const signal of SIGNALS) onSignal(signal, () => exportLast(), true);
  process.on('exit', () => {
    if (isNew()) exporter.exportSync();
  });
  return () => {
    isStopped = true;
  };
};

const startOtlp = (instruments: Instruments, recorded: () => number, options: MetricsOptions): Stop => {
  if (options.otlp === undefined) return () => {};
  const { temporality, ...settings } = options.otlp;
  const reader = new Reader(instruments, temporality);
  const { exitTimeoutMs } = defaultCollector();
  const { warn } = options;
  const exporter = new OtlpMetricExporter({ ...settings, reader, resource, exitTimeoutMs, warn });
  exporter.start();
  const stopAtExit = exportAtExit(exporter, recorded);
  return () => {
    stopAtExit();
    exporter.close();
  };
};

const startPrometheus = (instruments: Instruments, { prometheus, warn, debug }: MetricsOptions): Stop => {
  if (prometheus === undefined) return () => {};
  const server = new PrometheusServer({
    ...prometheus,
    reader: new Reader(instruments, 'cumulative'),
    resource: () => resource().properties,
    furtherPorts: isOfCluster() ? MAX_CLUSTER_PORTS : 0,
    listens: (url) => debug(`metrics are at ${url}`),
    fails: warn,
  });
  return () => server.close();
};

/** From now on instrumentations measure, and the process does. */
export const startMetrics = (options: MetricsOptions): void => {
  const { debug, warn } = options;
  const instruments = new Instruments();
  const library = new LibraryMetrics(instruments, options.hasExemplars);
  const spans = measureSpans(instruments, options.hasExemplars);
  measureRuntime(instruments);
  measureRecorder(instruments);
  const stops = [
    startOtlp(instruments, () => library.records + spans.records, options),
    startPrometheus(instruments, options),
  ];
  options.onProvider((provider) => {
    try {
      // What goes elsewhere goes nowhere twice.
      for (const stop of stops.splice(0)) stop();
      stops.push(useProvider(instruments, provider));
      debug("metrics go to the program's own MeterProvider");
    } catch (error) {
      warn(`The MeterProvider of the program has no metrics of spanline: ${(error as Error).message}`);
    }
  });
  state.measures = library;
};
