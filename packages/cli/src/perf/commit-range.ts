// Which commits a command looks at: a stretch by hash or date, the newest ones, or one tile. A day means all of it.

import type { CommitRange } from '@spanline/tracedb';
import { type Command, InvalidArgumentError } from 'commander';
import { wrongUsage } from '../exit-code.js';
import { isoTime, wholeNumber } from '../options.js';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const LOOKS_LIKE_TIME = /^\d{4}-\d{2}-\d{2}/;
const DAY_MS = 86_400_000;

/** The options as commander hands them over. */
export interface RangeOptions {
  readonly from?: string | Date;
  readonly to?: string | Date;
  readonly last?: number;
}

const bound =
  (isEnd: boolean) =>
  (text: string): string | Date => {
    if (!LOOKS_LIKE_TIME.test(text)) return text;
    const ms = isoTime(text);
    if (Number.isNaN(ms)) {
      throw new InvalidArgumentError('write a commit (its hash), a day (2026-01-31) or a time (2026-01-31T12:00:00Z).');
    }
    return new Date(isEnd && DAY.test(text) ? ms + DAY_MS - 1 : ms);
  };

/** Give a command the options of a range of commits. */
export const withRange = (command: Command): Command =>
  command
    .option('--from <commit|date>', 'first commit by its hash, or the first day or time, of all tiles', bound(false))
    .option('--to <commit|date>', 'last commit by its hash, or the last day (all of it) or time', bound(true))
    .option('--last <commits>', 'only the newest commits (of the range), so many, of all tiles', wholeNumber(1));

/** The range that was asked for; undefined where none was, so that a tile is meant. */
export const rangeOf = ({ from, to, last }: RangeOptions, tile: number | undefined): CommitRange | undefined => {
  if (from === undefined && to === undefined && last === undefined) return undefined;
  if (tile === undefined) return { from, to, last };
  throw wrongUsage('--tile is one tile, --from, --to and --last are commits of all tiles; give one kind');
};
