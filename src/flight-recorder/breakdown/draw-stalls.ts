// Stalls as a table for a terminal: a line for each, and below it the owners of the loop, or the requests in the thread pool, and the waiters. No name of a span
// reaches the terminal as anything but text.
import { shortText } from '../../base/text/escape-text.js';
import { type Glyphs, UNICODE } from '../../formats/terminal/palette.js';
import { formatDuration, shortTime } from '../../formats/terminal/values.js';
import { stackName } from '../timeline/frames.js';
import type { Stall } from './stalls.js';

const MAX_NAME = 60;
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
