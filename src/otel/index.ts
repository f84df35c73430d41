// The entry spanline/otel: OpenTelemetry's API on this recorder. Exports only.
export { type ApiCopy, findApiCopies } from './api-copies.js';
export { SpanlineContextManager } from './context-manager.js';
export { detectResource } from './detect-resource.js';
export { type B3Options, B3Propagator } from './propagators/b3.js';
export { W3CBaggagePropagator } from './propagators/baggage.js';
export { CompositePropagator } from './propagators/header-values.js';
export { JaegerPropagator } from './propagators/jaeger.js';
export { W3CTraceContextPropagator } from './propagators/trace-context.js';
export type { TracerProviderOptions } from './recording-provider.js';
export {
  alwaysOff,
  alwaysOn,
  parentBasedSampler,
  perSecond,
  ruleSampler,
  type SamplingRule,
  traceIdRatio,
} from './samplers.js';
export type { OtelIdGenerator, OtelSampler, OtelSpanProcessor, SamplingResult } from './sdk-interfaces.js';
export { observeStats } from './stats-metrics.js';
export { type RegisterOptions, SpanlineTracerProvider } from './tracer-provider.js';
