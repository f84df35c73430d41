// SpanlineTracerProvider: a provider of tracers for the copy of OpenTelemetry's API that is installed beside this package, and the only file of this
// module that loads it. Must not be needed to record: src/register does without.
import {
  type ContextManager,
  context,
  propagation,
  ROOT_CONTEXT,
  type TextMapPropagator,
  trace,
} from '@opentelemetry/api';
import { contexts } from './api-values.js';
import { SpanlineContextManager } from './context-manager.js';
import { W3CBaggagePropagator } from './propagators/baggage.js';
import { CompositePropagator } from './propagators/header-values.js';
import { W3CTraceContextPropagator } from './propagators/trace-context.js';
import { RecordingProvider } from './recording-provider.js';

contexts.root = ROOT_CONTEXT;

/** What {@link SpanlineTracerProvider.register} sets beside itself. Null leaves out what would be set. */
export interface RegisterOptions {
  readonly contextManager?: ContextManager | null;
  readonly propagator?: TextMapPropagator | null;
}

/**
 * Records what is written for OpenTelemetry's API. Throws `ERR_SPANLINE_OPTION` naming the option that is wrong.
 *
 * @example
 * ```ts
 * import { trace } from '@opentelemetry/api';
 * import { SpanlineTracerProvider } from 'spanline/otel';
 *
 * const provider = new SpanlineTracerProvider();
 * provider.register();
 * trace.getTracer('shop').startActiveSpan('order', (span) => span.end());
 * await provider.forceFlush();
 * ```
 */
export class SpanlineTracerProvider extends RecordingProvider {
  /** Make it the provider of the API, with a context manager and W3C propagation unless others are given. */
  register({ contextManager, propagator }: RegisterOptions = {}): void {
    trace.setGlobalTracerProvider(this);
    if (contextManager !== null) {
      context.setGlobalContextManager(contextManager ?? new SpanlineContextManager().enable());
    }
    if (propagator !== null) {
      propagation.setGlobalPropagator(
        propagator ?? new CompositePropagator([new W3CTraceContextPropagator(), new W3CBaggagePropagator()]),
      );
    }
  }
}
