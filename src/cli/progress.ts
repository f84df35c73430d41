// Says on a terminal how far long work is, in one line on stderr that is gone at the end. In a pipe it must stay quiet.
import { cut } from '../base/text/display-width.js';
import { escapeText } from '../base/text/escape-text.js';

const REDRAW_MS = 100;

/** One line of progress. */
export class Progress {
  #drawnAt = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  readonly #stream: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>;

  constructor(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'> = process.stderr) {
    this.#stream = stream;
  }

  /** Show `text` in place of what was shown. */
  show(text: string): void {
    if (this.#stream.isTTY !== true) return;
    const now = performance.now();
    if (now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    this.#isDrawn = true;
    this.#stream.write(`\r\x1b[2K${cut(escapeText(text), Math.max(1, (this.#stream.columns ?? 80) - 1), '')}`);
  }

  /** Take the line away. */
  clear(): void {
    if (this.#isDrawn) this.#stream.write('\r\x1b[2K');
    this.#isDrawn = false;
  }
}
