// The public surface of spanline's core. Exports only; the code is in the modules.
import './flight-recorder/install.js';

export { OptionError } from './base/errors.js';
export { type ClockInfo, clockInfo } from './clock/index.js';
export { Collector, type CollectorStats, type FlushResult } from './collector/collector.js';
export {
  configure,
  defaultCollector,
  flush,
  type Options,
  type Stats,
  setReporter,
  shutdown,
  stats,
} from './collector/default-collector.js';
export { flushOnSignals } from './collector/exit.js';
export type { CollectorOptions } from './collector/options.js';
export { toRecords } from './collector/own-trace.js';
export type { PipelineStats } from './collector/pipeline.js';
export { type ReportBatch, ReportError, type Reporter, type Resource, type Trace } from './collector/reporter.js';
export type { ContextInfo } from './context/frame-store.js';
export { LocalCollector, LocalSpans } from './local-span/local-collector.js';
export { currentQueue, LocalSpan, SpanQueue } from './local-span/local-span.js';
export { EventRecord, SpanRecord, TraceIdentity } from './record/record.js';
export type {
  Link,
  Properties,
  PropertyList,
  PropertyValue,
  SpanKind,
  SpanStatus,
  StatusCode,
} from './rows/property.js';
export { TraceCollector } from './span/active-trace.js';
export type { RootOptions, SpanOptions } from './span/arguments.js';
export { always, never, parentBased, ratio, type Sampler, type SamplingInput } from './span/sampler.js';
export { Span } from './span/span.js';
export { SpanContext } from './span/span-context.js';
export { type SpanMetricOptions, spanMetrics } from './span/span-metrics.js';
export { SpanGuard } from './span/span-tasks.js';
export {
  type BoundEmitter,
  bindEmitter,
  contextForWorker,
  contextFromWorker,
  type TraceableStream,
  type TransferredContext,
  traceIterable,
  tracePromise,
  traceStream,
} from './span/trace-others.js';
export type { TracedDecorator } from './span/traced.js';
export { trace, traced } from './span/traced.js';
export type { FunctionKind, TracedOptions } from './span/traced-options.js';
