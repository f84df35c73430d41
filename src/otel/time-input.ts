// OpenTelemetry's times, in all their forms, as ticks of our clock. Explicit times of a trace go by one anchor, that of its report, so that
// what comes out is what was given.
import type { HrTime, TimeInput } from '@opentelemetry/api';
import { type ClockAnchor, now, nsPerTick, takeAnchor } from '../clock/index.js';
import { toUnixTime } from '../record/row-view.js';
import type { ActiveTrace } from '../span/active-trace.js';

const isHrTime = (input: unknown): input is HrTime =>
  Array.isArray(input) && input.length === 2 && typeof input[0] === 'number' && typeof input[1] === 'number';

/** True for what the API takes as a time. */
export const isTimeInput = (input: unknown): input is TimeInput =>
  typeof input === 'number' || input instanceof Date || isHrTime(input);

const anchorOf = (trace: ActiveTrace): ClockAnchor => {
  trace.anchor ??= takeAnchor();
  return trace.anchor as ClockAnchor;
};

// In the middle of a nanosecond: ticks become nanoseconds by rounding down.
const fromUnix = (sec: number, nano: number, anchor: ClockAnchor): number =>
  anchor.ticks + ((sec - anchor.unixSec) * 1e9 + nano - anchor.unixNano + 0.5) / anchor.nsPerTick;

const fromMillis = (ms: number, anchor: ClockAnchor): number =>
  fromUnix(Math.trunc(ms / 1000), Math.round((ms % 1000) * 1e6), anchor);

/** The moment as ticks; now for anything that is not a time. */
export const toTicks = (input: unknown, trace: ActiveTrace): number => {
  let ticks = 0;
  if (typeof input === 'number') {
    // A number that is not yet reached by performance.now() is one of unix time.
    const elapsed = performance.now();
    ticks = input <= elapsed ? now() - ((elapsed - input) * 1e6) / nsPerTick() : fromMillis(input, anchorOf(trace));
  } else if (input instanceof Date) ticks = fromMillis(input.getTime(), anchorOf(trace));
  else if (isHrTime(input)) ticks = fromUnix(input[0], input[1], anchorOf(trace));
  // 0 is not a moment: it marks an open span.
  return Number.isFinite(ticks) && ticks !== 0 ? ticks : now();
};

/** A moment of a trace as seconds and nanoseconds. */
export const toHrTime = (ticks: number, trace: ActiveTrace): HrTime => {
  const { sec, nano } = toUnixTime(ticks, anchorOf(trace));
  return [sec, nano];
};
