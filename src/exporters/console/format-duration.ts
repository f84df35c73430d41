// Nanoseconds in the unit a person would choose. For display only: it rounds.

const UNITS: readonly (readonly [limitNs: number, divisor: number, unit: string])[] = [
  [1e3, 1, 'ns'],
  [1e6, 1e3, 'µs'],
  [1e9, 1e6, 'ms'],
  [Number.POSITIVE_INFINITY, 1e9, 's'],
];

/** Three significant digits: `85 ns`, `1.23 µs`, `12.4 ms`, `345 s`. */
export const formatDuration = (ns: number): string => {
  for (const [limit, divisor, unit] of UNITS) {
    // 999.6 of a unit would round to 1000 of it: take the next unit instead.
    if (ns < limit - divisor / 2 || limit === Number.POSITIVE_INFINITY) {
      const value = ns / divisor;
      const digits = divisor === 1 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
      return `${value.toFixed(digits)} ${unit}`;
    }
  }
  return '';
};
