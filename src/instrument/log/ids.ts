// Which trace a record belongs to, in the words that logs use.
import { Span } from '../../span/span.js';

export interface LogIds {
  readonly trace_id: string;
  readonly span_id: string;
  readonly trace_flags: string;
}

/** Undefined outside any trace. */
export const currentIds = (): LogIds | undefined => {
  const context = Span.current()?.context;
  if (context === undefined) return undefined;
  const { traceId, spanId, sampled } = context;
  return { trace_id: traceId, span_id: spanId, trace_flags: sampled ? '01' : '00' };
};
