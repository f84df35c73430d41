// What commands print: answers on standard output, as text, columns, JSON or a drawn trend, notes and the progress of long work on standard error,
// which must stay quiet in a pipe. Names come from files of others: none may move the cursor or change the title of a terminal.
// Columns must never truncate a cell: programs such as awk read the tables too; a trend must never be wider than the
// terminal: a line that wraps is not a plot. A command whose standard output is closed early, as by `| head`, ends with the exit code it would have
// had. Its remaining output is dropped; its findings must not be.
import { once } from 'node:events';
import { fstatSync } from 'node:fs';
import { escapeLines, escapeText, runSync, SpanlineError, writeAll } from 'spanline/internal/base';
import { ExitCode, endWith } from './exit-code.js';
import { cut, displayWidth } from './terminal.js';

let isClosed = false;

/** Thrown by {@link throwIfOutputClosed} to end a command that prints as it reads. `command-line.ts` takes it for a good end. */
export class OutputClosed extends SpanlineError {
  override readonly name = 'OutputClosed';
}

/** Write each chunk to its last byte: Node's stream of a file writes once, and takes what a full disk or a quota cut off for written. */
const writeToTheEnd = (stream: NodeJS.WriteStream & { readonly fd: number }): void => {
  // As BigInts: Node 20 resolves no symbolic link of a package any more once it has seen numbers of a pipe.
  if (!fstatSync(stream.fd, { bigint: true }).isFile()) return;
  stream._write = (chunk: Buffer, _encoding, done) => {
    try {
      runSync(writeAll(stream.fd, chunk));
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  };
};

/**
 * Take a closed pipe for the end of the output, and hand every other failure of standard output to `fail`. Where notes cannot be written there is no
 * place to say it: the exit code does.
 */
export const watchOutput = (fail: (error: Error) => never): void => {
  writeToTheEnd(process.stdout);
  writeToTheEnd(process.stderr);
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') endWith(ExitCode.store);
  });
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') fail(error);
    isClosed = true;
  });
};

/** Ends a command whose output nobody reads. */
const throwIfOutputClosed = (): void => {
  if (isClosed) throw new OutputClosed('OUTPUT_CLOSED', 'standard output was closed');
};

/** Prints a note, which is not part of the answer, to standard error. */
export const note = (text: string): void => {
  process.stderr.write(`spanline: ${escapeText(text)}\n`);
};

/** Prints an answer: one JSON document where the command was asked for `--json`, else the text, which has no colours. */
export const printAnswer = (json: boolean | undefined, answer: unknown, text: string): void => {
  process.stdout.write(json ? `${JSON.stringify(answer, null, 2)}\n` : escapeLines(text));
};

/** Writes to stdout at the speed of its reader; ends the command once the reader is gone. */
export const writeOut = async (text: string): Promise<void> => {
  throwIfOutputClosed();
  // A closed pipe never drains; it emits an error instead.
  if (!process.stdout.write(text)) await once(process.stdout, 'drain').catch(throwIfOutputClosed);
};

/** A table with a head; columns are to the left, or where `align` says `r` at their place to the right, as numbers should be. Ends in a line break; empty when there are no rows. */
export const columns = (head: readonly string[], rows: readonly (readonly string[])[], align = ''): string => {
  if (rows.length === 0) return '';
  const all = [head, ...rows].map((row) => row.map(escapeText));
  const widths = head.map((_, i) => Math.max(...all.map((row) => displayWidth(row[i] ?? ''))));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => {
        const space = ' '.repeat(widths[i] - displayWidth(cell));
        return align[i] === 'r' ? space + cell : cell + space;
      })
      .join('  ')
      .trimEnd();
  return `${all.map(line).join('\n')}\n`;
};

/** A number in so many digits that count. */
export const digits = (value: number, count: number): string => String(Number(value.toPrecision(count)));

/** A relative change: `+5.0 %`. */
export const signedPercent = (change: number): string => `${change >= 0 ? '+' : ''}${(change * 100).toFixed(1)} %`;

type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>;
type Environment = Readonly<Record<string, string | undefined>>;

/** Colours on a terminal only; `NO_COLOR` (any value but empty) wins over `FORCE_COLOR`, that over the terminal. */
export function wantsColour(stream: Stream = process.stdout, env: Environment = process.env): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0';
  return stream.isTTY === true && env.TERM !== 'dumb';
}

/** Columns of the terminal; `fallback` in a pipe, so that output there does not depend on somebody's window. */
export function terminalWidth(stream: Stream = process.stdout, fallback = 100): number {
  return stream.isTTY === true && stream.columns > 0 ? stream.columns : fallback;
}

const REDRAW_MS = 100;

/** One line of progress; `using` removes it at the end of what it tells of. */
export class Progress {
  #drawnAt = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  readonly #stream: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>;

  constructor(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'> = process.stderr) {
    this.#stream = stream;
  }

  /** Replaces the line with `text`. */
  show(text: string): void {
    if (this.#stream.isTTY !== true) return;
    const now = performance.now();
    if (now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    this.#isDrawn = true;
    this.#stream.write(`\r\x1b[2K${cut(escapeText(text), Math.max(1, (this.#stream.columns ?? 80) - 1), '')}`);
  }

  /** Removes the line. */
  clear(): void {
    if (this.#isDrawn) this.#stream.write('\r\x1b[2K');
    this.#isDrawn = false;
  }

  [Symbol.dispose](): void {
    this.clear();
  }
}

/** What is drawn. */
interface Trend {
  /** Stands above the plot. */
  readonly key: string;
  /** One a value. */
  readonly commits: readonly { readonly hash: string }[];
  readonly values: readonly number[];
}

const HEIGHT = 12;
const AXIS_WIDTH = 14;

/** One value a column: the median of the values that fall into it. */
const resampled = (values: readonly number[], width: number): number[] => {
  if (values.length <= width) return [...values];
  return Array.from({ length: width }, (_, i) => {
    const bucket = values.slice(Math.floor((i * values.length) / width), Math.floor(((i + 1) * values.length) / width));
    return bucket.sort((a, b) => a - b)[bucket.length >> 1];
  });
};

/** The plot, with a line above that names the series and one below that names its first and last commit. */
export const trendText = async ({ key, commits, values }: Trend, width: number): Promise<string> => {
  const { plot } = (await import('asciichart')).default;
  const points = resampled(values, Math.max(10, width - AXIS_WIDTH));
  const format = (value: number): string => digits(value, 5).padStart(AXIS_WIDTH - 3);
  const first = commits[0];
  const last = commits.at(-1);
  const ends =
    first === undefined || last === undefined ? '' : `${first.hash.slice(0, 10)} to ${last.hash.slice(0, 10)}`;
  return `${escapeText(key)}\n${plot(points, { height: HEIGHT, format })}\n${' '.repeat(AXIS_WIDTH)}${values.length} values, ${escapeText(ends)}\n`;
};
