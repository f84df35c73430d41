// Where time went, for people: a breakdown as one line, and stalls as a table, a line for each and below it the owners of the loop, or the requests in
// the thread pool, and the waiters. Parts of a time are rounded so that they still add up, the largest remainders up: must never show a sum that the
// parts do not have. No name of a span reaches the terminal as anything but text.

import { shortText } from '../../base/text/escape-text.js';
import { type Glyphs, UNICODE } from '../../formats/terminal/palette.js';
import { formatDuration, shortTime } from '../../formats/terminal/values.js';
import { stackName } from '../timeline/frames.js';
import type { Stall } from './stalls.js';
import type { TimeBreakdown } from './tally.js';

/** A unit and its digits, chosen by the whole time: three digits that say something. */
interface Scale {
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
const scaleFor = (us: number): Scale => {
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
const roundedTo = ({ stepUs }: Scale, parts: readonly number[]): [total: number, parts: number[]] => {
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

const MAX_NAME = 60;

/** The name under which the rest of the others stands. */
const REST = 'others';

const othersByName = ({ others, othersUs }: TimeBreakdown): Map<string, number> => {
  const byName = new Map<string, number>();
  let named = 0;
  const add = (name: string, us: number): void => void byName.set(name, (byName.get(name) ?? 0) + us);
  for (const { name, us } of others) {
    add(shortText(name, MAX_NAME) || '(no name)', us);
    named += us;
  }
  add(REST, othersUs - named);
  return byName;
};

/** `thread pool full 20: other 8 (crypto/pbkdf2)`, of a part of the waiting that takes `steps`. */
const poolText = ({ poolUs, poolWaits }: TimeBreakdown, steps: number, { stepUs, text }: Scale): string => {
  const full = Math.min(steps, Math.round(poolUs / stepUs));
  if (full === 0) return '';
  const requests = shortText(poolWaits[0].requests, MAX_NAME);
  return ` (thread pool full ${text(full)}${requests === '' ? '' : `: ${requests}`})`;
};

/**
 * A breakdown as `120 ms = own 15 + loop 80 (POST /import 62, gc 11, untraced 7) + waiting 25`. `loop` is all that had the event loop
 * and was not the span's: others, collections, work without a span. `short work 4` would be work of turns of the loop too short to be looked at. All numbers are in the first one's unit, rounded so that they add up;
 * what rounds to nothing is left out. `waiting 25 (thread pool full 20: dns.lookup 12)` is how much of the waiting had a full pool, and what
 * was in it longest.
 *
 * @example
 * ```ts
 * import { BreakdownIndex, timeBreakdown, formatBreakdown } from 'spanline/flight-recorder';
 * const span = { traceId: 'a'.repeat(32), spanId: '1'.repeat(16), parentSpanId: '', name: 'parse', startUs: 0, endUs: 1500, isSync: true };
 * const breakdown = timeBreakdown(new BreakdownIndex([span]), span);
 * console.assert(breakdown !== undefined && formatBreakdown(breakdown) === '1.50 ms = own 1.50');
 * ```
 */
export const formatBreakdown = (breakdown: TimeBreakdown): string => {
  const { durationUs, ownUs, gcUs, untracedUs, shortUs, waitingUs, unknownUs } = breakdown;
  const scale = scaleFor(durationUs);
  const others = [...othersByName(breakdown)];
  const loopParts: [string, number][] = [...others, ['gc', gcUs], ['untraced', untracedUs]];
  const [total, [own, short, waiting, unknown, ...loop]] = roundedTo(scale, [
    ownUs,
    shortUs,
    waitingUs,
    unknownUs,
    ...loopParts.map(([, us]) => us),
  ]);
  const shownLoop = loopParts
    .map(([name], i) => ({ name, value: loop[i] }))
    .filter(({ value }) => value > 0)
    .map(({ name, value }) => `${name} ${scale.text(value)}`);
  const sumOfLoop = loop.reduce((sum, value) => sum + value, 0);
  const parts = [
    own > 0 ? `own ${scale.text(own)}` : '',
    sumOfLoop > 0 ? `loop ${scale.text(sumOfLoop)} (${shownLoop.join(', ')})` : '',
    short > 0 ? `short work ${scale.text(short)}` : '',
    waiting > 0 ? `waiting ${scale.text(waiting)}${poolText(breakdown, waiting, scale)}` : '',
    unknown > 0 ? `unknown ${scale.text(unknown)}` : '',
  ].filter((part) => part !== '');
  return `${scale.text(total)} ${scale.unit} = ${parts.length === 0 ? scale.text(0) : parts.join(' + ')}`;
};

const SHORT_ID = 8;

type Time = (us: number) => string;

const nameOf = ({ name, traceId }: { readonly name: string; readonly traceId: string }): string =>
  `${shortText(name, MAX_NAME) || '(no name)'} [${traceId.slice(0, SHORT_ID)}]`;

const holdersOf = (
  { holders, spansUs, gcUs, untracedUs, untracedFrames, unknownUs, shortUs, idleUs }: Stall,
  time: Time,
): string => {
  const rest = spansUs - holders.reduce((sum, { us }) => sum + us, 0);
  const frames = untracedFrames.map((hot) => `${shortText(stackName(hot.frames), MAX_NAME)} ${time(hot.us)}`);
  const parts = [
    ...holders.map((holder) => `${nameOf(holder)} ${time(holder.us)}`),
    rest > 0 ? `others ${time(rest)}` : '',
    gcUs > 0 ? `gc ${time(gcUs)}` : '',
    untracedUs > 0 ? `untraced ${time(untracedUs)}${frames.length > 0 ? ` (${frames.join(', ')})` : ''}` : '',
    unknownUs > 0 ? `unknown ${time(unknownUs)}` : '',
    shortUs > 0 ? `short work ${time(shortUs)}` : '',
    idleUs > 0 ? `free ${time(idleUs)}` : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
};

const poolOf = ({ poolWaits }: Stall, time: Time): string => {
  const shown = poolWaits.map(({ requests, us }) => `${shortText(requests, MAX_NAME) || 'unknown'} ${time(us)}`);
  return shown.length === 0 ? '' : `  thread pool full: ${shown.join('; ')}\n`;
};

const waitersOf = ({ waiters, waiterCount, waitedUs }: Stall, time: Time): string => {
  if (waiterCount === 0) return 'nobody waited';
  const named = waiters.slice(0, 3).map((waiter) => `${nameOf(waiter)} ${time(waiter.us)}`);
  const more = waiterCount - named.length;
  const list = more > 0 ? [...named, `and ${more} more`] : named;
  return `${waiterCount} ${waiterCount === 1 ? 'trace' : 'traces'} waited ${time(waitedUs)} in all: ${list.join(', ')}`;
};

/** A stall, and its process where there are several. */
type NamedStall = Stall & { readonly process?: string };

/** The text; every line ends in a line break, and there is none without a stall. */
export const drawStalls = (
  stalls: readonly NamedStall[],
  bold: (text: string) => string = (text) => text,
  glyphs: Pick<Glyphs, 'micro'> = UNICODE,
): string => {
  const time: Time = (us) => formatDuration(us * 1000, glyphs);
  return stalls
    .map((stall) => {
      const start = shortTime(BigInt(Math.round(stall.startUs)) * 1000n);
      const process = stall.process ? `  ${shortText(stall.process, MAX_NAME)}` : '';
      const head = `${bold(`${start}  ${time(stall.durationUs)}`)}${process}\n`;
      return `${head}${poolOf(stall, time)}  loop: ${holdersOf(stall, time)}\n  ${waitersOf(stall, time)}\n`;
    })
    .join('');
};
