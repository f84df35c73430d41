// The lines of one span whose tasks still run: `span.run` of an async function, closed when its promise settles, and
// scopes of `span.enter`. When the span ends first, what they hold already is handed over.
import type { SpanLine } from '../local-span/span-line.js';
import type { Follow } from './plain-promise.js';

export class TaskLines {
  /** A list in no order. */
  first: SpanLine | null = null;

  /** Keep `line` among those that run. */
  add(line: SpanLine): void {
    line.nextOpen = this.first;
    if (this.first !== null) this.first.previousOpen = line;
    this.first = line;
  }

  /** Close `line` when `result` settles. The promise given back is to be returned in its place. */
  closeWhenSettled<T>(line: SpanLine, result: Promise<T>, follow: Follow): Promise<T> {
    this.add(line);
    return follow(
      result,
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

  /** `line` runs no longer. */
  remove(line: SpanLine): void {
    const { previousOpen, nextOpen } = line;
    if (previousOpen === null) this.first = nextOpen;
    else previousOpen.nextOpen = nextOpen;
    if (nextOpen !== null) nextOpen.previousOpen = previousOpen;
  }

  private close(line: SpanLine): void {
    this.remove(line);
    line.close();
  }
}
