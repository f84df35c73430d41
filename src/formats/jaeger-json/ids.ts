// Trace ids as Jaeger writes them: 16 digits where the first 64 bits are zero, as older tracers have them.

/** @param traceId 32 hex digits. */
export const shownTraceId = (traceId: string): string =>
  traceId.startsWith('0000000000000000') ? traceId.slice(16) : traceId;
