// Numbers as people read them. No text here depends on the language of the browser: pictures and links are compared between people.

/** Microseconds with three digits that count: `1.25 s`, `340 µs`. */
export const duration = (us: number): string => {
  const [value, unit] = us >= 1e6 ? [us / 1e6, 's'] : us >= 1000 ? [us / 1000, 'ms'] : [us, 'µs'];
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`;
};

/** A moment, in UTC. */
export const moment = (unixUs: number): string => new Date(unixUs / 1000).toISOString().replace('T', ' ').slice(0, 23);

export const share = (part: number, whole: number): string => `${whole > 0 ? Math.round((100 * part) / whole) : 0} %`;

/** So many things: `1 commit`, `2 commits`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
