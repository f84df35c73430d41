// Metrics of a process, put together as `register` asks: what is measured, who reads it, and the last export. This is the only file that register loads of
// this module, and only when metrics are asked for. It must not throw: a service starts without its metrics.
import { defaultCollector } from '../collector/default-collector.js';
import { onSignal } from '../collector/signal-work.js';
import { state } from '../context/process-state.js';
import type { ResolvedOtlpOptions } from '../exporters/otlp/options.js';
import { ownResource } from '../formats/library.js';
import type { ArchivedResource } from '../record/archived-span.js';
import { LibraryMetrics } from './library-metrics.js';
import { OtlpMetricExporter } from './otlp-exporter.js';
import { PrometheusServer } from './prometheus-server.js';
import { Instruments, Reader, type Temporality } from './reader.js';
import { measureRecorder } from './recorder-metrics.js';
import { measureRuntime } from './runtime-metrics.js';

/** Where metrics go. */
export interface MetricsOptions {
  readonly otlp?: OtlpMetricsSettings;
  readonly prometheus?: PrometheusSettings;
  /** Buckets name a trace that is in them. */
  readonly hasExemplars: boolean;
  warn(message: string): void;
  debug(message: string): void;
}

export interface OtlpMetricsSettings {
  readonly options: ResolvedOtlpOptions;
  readonly temporality: Temporality;
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

export interface PrometheusSettings {
  readonly host: string;
  readonly port: number;
}

/** Processes of a cluster, which each need a port. */
const MAX_CLUSTER_PORTS = 256;
const isOfCluster = (): boolean =>
  (process.getBuiltinModule('node:cluster') as unknown as { readonly isWorker: boolean }).isWorker;

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

const resource = (): ArchivedResource => ownResource(defaultCollector().resource);

/** The last export, however the process ends: empty, by a signal, or at once. */
const exportAtExit = (exporter: OtlpMetricExporter, library: LibraryMetrics): void => {
  let exported = -1;
  const isNew = (): boolean => library.records !== exported;
  // Not before it is over: a program that ends itself meanwhile, as many do at a signal, would end without it.
  const exportLast = async (): Promise<void> => {
    const { records } = library;
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
};

const startOtlp = (instruments: Instruments, library: LibraryMetrics, options: MetricsOptions): void => {
  if (options.otlp === undefined) return;
  const { options: otlp, temporality, intervalMs, timeoutMs } = options.otlp;
  const reader = new Reader(instruments, temporality);
  const { exitTimeoutMs } = defaultCollector();
  const { warn } = options;
  const exporter = new OtlpMetricExporter({ otlp, reader, resource, intervalMs, timeoutMs, exitTimeoutMs, warn });
  exporter.start();
  exportAtExit(exporter, library);
};

const startPrometheus = (instruments: Instruments, { prometheus, warn, debug }: MetricsOptions): void => {
  if (prometheus === undefined) return;
  new PrometheusServer({
    ...prometheus,
    reader: new Reader(instruments, 'cumulative'),
    resource: () => resource().properties,
    furtherPorts: isOfCluster() ? MAX_CLUSTER_PORTS : 0,
    listens: (url) => debug(`metrics are at ${url}`),
    fails: warn,
  });
};

/** From now on instrumentations measure, and the process does. */
export const startMetrics = (options: MetricsOptions): void => {
  const instruments = new Instruments();
  const library = new LibraryMetrics(instruments, options.hasExemplars);
  measureRuntime(instruments);
  measureRecorder(instruments);
  startOtlp(instruments, library, options);
  startPrometheus(instruments, options);
  state.measures = library;
};
