// Parts of a time rounded so that they still add up: the largest remainders are rounded up. Must never show a sum that the parts do not have.

/** A unit and its digits, chosen by the whole time: three digits that say something. */
export interface Scale {
  readonly unit: string;
  /** Microseconds of one in the last digit. */
  readonly stepUs: number;
  /** A number of steps as it is shown, without the unit. */
  text(steps: number): string;
}

const UNITS: readonly (readonly [limitUs: number, unitUs: number, unit: string])[] = [
  [1e3, 1, 'µs'],
  [1e6, 1e3, 'ms'],
  [Number.POSITIVE_INFINITY, 1e6, 's'],
];

/** As durations are shown elsewhere (`formats/terminal/values.ts`), but never in nanoseconds, which the timeline does not have. */
export const scaleFor = (us: number): Scale => {
  const [, unitUs, unit] = UNITS.find(([limit, divisor]) => us < limit - divisor / 2) ?? UNITS[UNITS.length - 1];
  const value = us / unitUs;
  const digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return {
    unit,
    stepUs: unitUs / 10 ** digits,
    text: (steps) => (steps / 10 ** digits).toFixed(digits),
  };
};

/** Microseconds as steps of the scale: their sum, and each of them, none off by a whole step. */
export const roundedTo = ({ stepUs }: Scale, parts: readonly number[]): [total: number, parts: number[]] => {
  const total = Math.round(parts.reduce((sum, us) => sum + us, 0) / stepUs);
  const rounded = parts.map((us) => Math.floor(us / stepUs));
  const order = parts.map((us, i) => ({ i, rest: us / stepUs - rounded[i] })).sort((a, b) => b.rest - a.rest);
  let left = total - rounded.reduce((sum, steps) => sum + steps, 0);
  for (const { i } of order) {
    if (left <= 0) break;
    rounded[i]++;
    left--;
  }
  return [total, rounded];
};
