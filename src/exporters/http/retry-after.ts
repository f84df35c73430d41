// The Retry-After header: seconds or an HTTP date. A value nobody can mean is left out, never guessed.

/** A server that asks for more is asked again after this long: a timer beyond 2^31 ms would fire at once. */
const MAX_MS = 3_600_000;

/** Milliseconds to wait, 0 to one hour; undefined when there is no such header or it cannot be read. */
export const parseRetryAfter = (header: string | undefined, nowMs: number): number | undefined => {
  const text = header?.trim();
  if (!text) return undefined;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), MAX_MS);
};
