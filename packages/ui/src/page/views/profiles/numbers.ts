// Numbers and names of profiles as the view shows them.

const NS_PER_MS = 1e6;

/** `12.3 ms`. */
export const milliseconds = (ns: number): string => {
  const ms = ns / NS_PER_MS;
  return `${ms >= 100 ? Math.round(ms).toLocaleString('en') : Number(ms.toPrecision(3))} ms`;
};

/** `12.3 %`. */
export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** `+1.2`, in percentage points. */
export const points = (change: number): string => `${change >= 0 ? '+' : ''}${(change * 100).toFixed(1)}`;

/** A label's value; what has none is said so. */
export const nameOf = (value: string): string => (value === '' ? '(none)' : value);

/** `3 Nov, 14:05:10 UTC`. */
export const timeOf = (unixMs: number): string =>
  new Date(unixMs).toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  });
