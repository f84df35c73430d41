// Durations as Go prints them: "1h2m3.5s", "-1.5ms", "250ns".

const fraction = (value: bigint, digits: number): string => {
  const unit = 10n ** BigInt(digits);
  const rest = String(value % unit)
    .padStart(digits, '0')
    .replace(/0+$/, '');
  return `${value / unit}${rest === '' ? '' : `.${rest}`}`;
};

const positive = (ns: bigint): string => {
  if (ns < 1000n) return `${ns}ns`;
  if (ns < 1_000_000n) return `${fraction(ns, 3)}µs`;
  if (ns < 1_000_000_000n) return `${fraction(ns, 6)}ms`;
  const minutes = ns / 60_000_000_000n;
  const seconds = `${fraction(ns % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
};

export const goDuration = (ns: bigint): string => {
  if (ns === 0n) return '0s';
  return ns < 0n ? `-${positive(-ns)}` : positive(ns);
};
