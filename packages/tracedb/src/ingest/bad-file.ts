// The error of an ingest file: name of the file, place in it, reason. It must never quote more than a line of the file, nor
// characters that steer a terminal: what is refused may be hostile, and the message goes to terminals and logs.
import { escapeText } from 'spanline/internal/base';
import { invalidInput, TraceDbError } from '../tracedb-error.js';

/** What is wrong at one place of a JSON document. */
export interface Problem {
  /** JSON pointer (RFC 6901); empty for the whole document. */
  readonly path: string;
  readonly reason: string;
}

const MAX_SHOWN = 60;
const MAX_POINTER = 200;

const cut = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max - 3)}...` : text);

/** A text of the file as it may stand in a message: short and quoted. */
export const quoted = (text: string): string => JSON.stringify(cut(text, MAX_SHOWN));

/** What a JSON value is, in a few words; never descends into it, because it may be nested without end. */
export const shown = (value: unknown): string => {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
};

/** The JSON pointer (RFC 6901) to `steps` under `base`. */
export const pointer = (base: string, ...steps: readonly (string | number)[]): string =>
  base + steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** `path` and `reason` as one text; `path` is a JSON pointer, empty for the whole. */
export const problemText = (path: string, reason: string): string =>
  escapeText(path === '' ? reason : `${cut(path, MAX_POINTER)} ${reason}`);

/** `ERR_SPANLINE_FILE` for a file that is missing or unreadable. */
export const unreadableFile = (at: string, reason: string, cause?: unknown): TraceDbError =>
  new TraceDbError(
    'ERR_SPANLINE_FILE',
    `${escapeText(at)}: ${escapeText(reason)}`,
    cause === undefined ? undefined : { cause },
  );

/** `ERR_SPANLINE_INVALID_INPUT` for the file, or file and line, `at`. */
export const badFile = (at: string, path: string, reason: string, cause?: unknown): TraceDbError =>
  invalidInput(`${escapeText(at)}: ${problemText(path, reason)}`, cause === undefined ? undefined : { cause });
