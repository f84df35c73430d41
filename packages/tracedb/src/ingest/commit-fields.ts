// Checks the fields every format has: the id of a commit and its times. A time that is not sure must never be guessed:
// timestamps decide which measurement wins.
import { MAX_TIMESTAMP_MS } from '../table/limits.js';
import { badFile, shown } from './bad-file.js';
import { integer } from './shape.js';

/** Milliseconds since 1970. */
export const TIME_MS = integer({ least: 0, most: MAX_TIMESTAMP_MS });

const MAX_COMMIT_LENGTH = 256;
const COMMIT = /^[\x21-\x7e]+$/;

// RFC 3339, and the form with a space that git prints.
const TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?) ?(Z|[+-]\d{2}:?\d{2})$/i;

/** The id of a commit, or an error: 1 to 256 visible characters of ASCII. */
export const checkedCommit = (at: string, path: string, commit: string): string => {
  if (commit.length <= MAX_COMMIT_LENGTH && COMMIT.test(commit)) return commit;
  throw badFile(at, path, `must be the id of a commit: 1 to 256 visible characters of ASCII, got ${shown(commit)}`);
};

/** Milliseconds of a time in RFC 3339 form, or an error. */
export const parsedTime = (at: string, path: string, text: string): number => {
  const [, date, time, zone] = TIME.exec(text) ?? [];
  const offset = zone?.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone?.toUpperCase();
  const ms = date === undefined ? Number.NaN : Date.parse(`${date}T${time}${offset}`);
  if (ms >= 0 && ms <= MAX_TIMESTAMP_MS) return Math.floor(ms);
  throw badFile(at, path, `must be a time such as 2023-10-01T22:00:15+02:00, got ${shown(text)}`);
};

/** Whole milliseconds since 1970 up to the year 9999, or an error. */
export const checkedTimeMs = (at: string, path: string, ms: number): number => {
  if (Number.isInteger(ms) && ms >= 0 && ms <= MAX_TIMESTAMP_MS) return ms;
  throw badFile(at, path, `must be whole milliseconds since 1970, up to the year 9999, got ${shown(ms)}`);
};
