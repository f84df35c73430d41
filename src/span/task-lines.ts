// The lines of one span whose tasks still run: `span.run` of an async function. Each is closed when its promise settles;
// when the span ends first, what they hold already is handed over. Rejections must stay as unhandled as they were.
import type { SpanLine } from '../local-span/span-line.js';

/** Only a plain promise is waited for: calling `then` of another thenable may start its work. */
export const isPlainPromise = (value: unknown): value is Promise<unknown> =>
  value instanceof Promise && value.constructor === Promise;

export class TaskLines {
  private first: SpanLine | null = null;

  /** Close `line` when `result` settles. The promise given back is to be returned in its place. */
  closeWhenSettled<T>(line: SpanLine, result: Promise<T>): Promise<T> {
    line.nextOpen = this.first;
    if (this.first !== null) this.first.previousOpen = line;
    this.first = line;
    return result.then(
      (value) => {
        this.close(line);
        return value;
      },
      (error) => {
        this.close(line);
        throw error;
      },
    );
  }

  /** The span ends while tasks run. */
  settle(): void {
    for (let line = this.first; line !== null; line = line.nextOpen) line.settle();
  }

  private close(line: SpanLine): void {
    const { previousOpen, nextOpen } = line;
    if (previousOpen === null) this.first = nextOpen;
    else previousOpen.nextOpen = nextOpen;
    if (nextOpen !== null) nextOpen.previousOpen = previousOpen;
    line.close();
  }
}
