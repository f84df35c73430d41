// What plugs in from OpenTelemetry's SDK, 2.x and 3.x, by structure: the SDK itself is needed neither at run time nor for types.
import type { Attributes, Context, Link, SpanKind, TraceState } from '@opentelemetry/api';

/** 0 does not record, 1 records for processors alone, 2 records and reports it to those called. */
export interface SamplingResult {
  readonly decision: number;
  readonly attributes?: Readonly<Attributes>;
  readonly traceState?: TraceState;
}

/** Decides whether a span is recorded. */
export interface OtelSampler {
  shouldSample(
    context: Context,
    traceId: string,
    spanName: string,
    spanKind: SpanKind,
    attributes: Attributes,
    links: Link[],
  ): SamplingResult;
  toString(): string;
}

/** Sees spans as they start and end. */
export interface OtelSpanProcessor {
  // biome-ignore lint/suspicious/noExplicitAny: each major version of the SDK declares spans of its own
  onStart(span: any, parentContext: Context): void;
  // biome-ignore lint/suspicious/noExplicitAny: the same
  onEnding?(span: any): void;
  // biome-ignore lint/suspicious/noExplicitAny: the same
  onEnd(span: any): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** Makes ids: 32 and 16 hex digits. */
export interface OtelIdGenerator {
  generateTraceId(): string;
  generateSpanId(): string;
}
