// Shows the progress of long work on a terminal, in one line on stderr that disappears at the end. Must stay quiet in a pipe.
import { cut, escapeText } from 'spanline/internal/base';

const REDRAW_MS = 100;

/** One line of progress. */
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
}
