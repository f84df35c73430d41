// Numbers and days as History and Golden print them.

/** A value in at most six digits; nothing for none. */
export const figure = (value: number): string =>
  Number.isNaN(value) ? '' : Number(value.toPrecision(6)).toLocaleString('en', { maximumSignificantDigits: 6 });

/** A value as an axis has it. */
export const compact = (value: number): string =>
  Number(value.toPrecision(6)).toLocaleString('en', { notation: 'compact', maximumSignificantDigits: 6 });

/** A change relative to what was before; infinite (null in JSON) when that was 0. */
export const percent = (change: number | null): string =>
  change === null ? 'from 0' : `${change >= 0 ? '+' : ''}${(change * 100).toFixed(1)} %`;

/** The day of Unix milliseconds; empty where nobody said. */
export const dayOf = (ms: number | null): string => (ms === null ? '' : new Date(ms).toISOString().slice(0, 10));
