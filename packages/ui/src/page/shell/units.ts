// Numbers as people read them. No text here depends on the language of the browser: pictures and links are compared between people.

/** Microseconds with three digits that count: `1.25 s`, `340 µs`. */
export const duration = (us: number): string => {
  const [value, unit] = us >= 1e6 ? [us / 1e6, 's'] : us >= 1000 ? [us / 1000, 'ms'] : [us, 'µs'];
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`;
};

/** A moment, `2026-01-31 12:00:00.000`, for what says the zone itself. */
export const bareMoment = (unixUs: number): string =>
  new Date(unixUs / 1000).toISOString().replace('T', ' ').slice(0, 23);

const ZONE = '\u00a0UTC';

/** A moment, with its zone, from which no line parts the time. */
export const moment = (unixUs: number): string => bareMoment(unixUs) + ZONE;

/** The same to the minute. */
export const minuteOf = (unixUs: number): string => bareMoment(unixUs).slice(0, 16) + ZONE;

/** The same without the day. */
export const timeOfDay = (unixUs: number): string => moment(unixUs).slice(11);

export const share = (part: number, whole: number): string => `${whole > 0 ? Math.round((100 * part) / whole) : 0} %`;

/** So many things: `1 commit`, `2 commits`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
