// The CPU time of a span as a person reads it, from the properties that CpuReporter adds; empty for a span that has none.
import type { ArchivedSpan } from '../../../trace/archived-span.js';
import { formatDuration } from '../units.js';
import type { Glyphs } from './glyphs.js';

const numberOf = (value: unknown): number | undefined =>
  (typeof value === 'number' || typeof value === 'bigint') && value >= 0 ? Number(value) : undefined;

/** Such as `3.1 ms ±0.4 ms`; the error is one standard error. */
export const cpuText = (span: ArchivedSpan | undefined, { plusMinus }: Glyphs): string => {
  const ns = numberOf(span?.properties['cpu.ns']);
  if (ns === undefined) return '';
  const error = numberOf(span?.properties['cpu.stderr_ns']);
  return error === undefined || error === 0
    ? formatDuration(ns)
    : `${formatDuration(ns)} ${plusMinus}${formatDuration(error)}`;
};
