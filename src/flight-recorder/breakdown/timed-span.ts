// What the breakdown of time needs of a span, wherever spans are kept, and its unit of time inside. Must not import records or files.

/** A span of this process with its time. */
export interface TimedSpan {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** '' for a root. */
  readonly parentSpanId: string;
  readonly name: string;
  /** Unix time in microseconds. */
  readonly startUs: number;
  readonly endUs: number;
  /** A local span: one synchronous stretch, which had the event loop all of its time. */
  readonly isSync: boolean;
  /** It had not ended when it was looked at; its end is that moment. */
  readonly isOpen?: boolean;
}

/** Which span. */
export type SpanKey = Pick<TimedSpan, 'traceId' | 'spanId'>;

/** From one moment to another. */
export interface TimeWindow {
  readonly fromUs: number;
  readonly toUs: number;
}

export const keyOf = ({ traceId, spanId }: SpanKey): string => traceId + spanId;

/**
 * Quarters of a microsecond as whole numbers: what a double holds of Unix time today. Whole numbers add up exactly, and so do the
 * microseconds made of them, whatever the order.
 */
export const TICKS_PER_US = 4;
export const toTicks = (us: number): number => Math.round(us * TICKS_PER_US);
export const toUs = (ticks: number): number => ticks / TICKS_PER_US;
