// The entry spanline/otel: OpenTelemetry's API on this recorder. Exports only.

export { SpanlineContextManager } from './context-manager.js';
export { W3CBaggagePropagator } from './propagators/baggage.js';
export { CompositePropagator } from './propagators/composite.js';
export { W3CTraceContextPropagator } from './propagators/trace-context.js';
export type { OtelIdGenerator, OtelSampler, OtelSpanProcessor, SamplingResult } from './sdk-interfaces.js';
export { type RegisterOptions, SpanlineTracerProvider, type TracerProviderOptions } from './tracer-provider.js';
