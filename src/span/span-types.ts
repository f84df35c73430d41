// The field's closed sets for a span: kind, status, link. Types and constants only; no behaviour.
import type { Properties } from '../rows/property.js';

/** The role of a span in a remote call, as OpenTelemetry names it. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** The outcome of a span. */
export type StatusCode = 'unset' | 'ok' | 'error';

/** In the order of their numbers in the flags of a row. */
export const KINDS: readonly SpanKind[] = ['internal', 'server', 'client', 'producer', 'consumer'];
export const STATUS_CODES: readonly StatusCode[] = ['unset', 'ok', 'error'];

/** A span's status; `message` is only meaningful for `error`. */
export interface SpanStatus {
  readonly code: StatusCode;
  readonly message?: string;
}

/** A reference from one span to another, usually in another trace. Ids are lower-case hex (32 and 16 digits). */
export interface Link {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState?: string;
  readonly properties?: Properties;
  /** Properties that were left out, in a record: a bound, or values of no permitted type. */
  readonly droppedAttributesCount?: number;
}
