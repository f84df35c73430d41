// Numbers and names of profiles as the tables of the command line show them.
import { shortText } from 'spanline/internal/base';
import { glyphsOf } from 'spanline/internal/formats';

const NS_PER_MS = 1e6;

/** `12.3 %`. */
export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** `+1.2`, in percentage points. */
export const points = (change: number): string => `${change >= 0 ? '+' : ''}${(change * 100).toFixed(1)}`;

/** `12.3 ms`. */
export const milliseconds = (ns: number): string => {
  const ms = ns / NS_PER_MS;
  return `${ms >= 100 ? Math.round(ms) : Number(ms.toPrecision(3))} ms`;
};

/** `± 1.2 ms`. */
export const plusMinus = (ns: number): string => `${glyphsOf().plusMinus} ${milliseconds(ns)}`;

const MAX_CHARACTERS = 100;

/** A label's value in a table; what has none is said so. */
export const nameOf = (value: string): string => {
  if (value === '') return '(none)';
  return shortText(value, MAX_CHARACTERS, glyphsOf().more);
};
