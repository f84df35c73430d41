// The queues of one span whose tasks still run: `span.run` of an async function, closed when its promise settles, and
// scopes of `span.enter`. When the span ends first, what they hold already is handed over.
import type { SpanQueue } from '../local-span/span-queue.js';
import type { Follow } from './plain-promise.js';

export class TaskQueues {
  /** A list in no order. */
  first: SpanQueue | null = null;

  /** Keep `queue` among those that run. */
  add(queue: SpanQueue): void {
    queue.nextOpen = this.first;
    if (this.first !== null) this.first.previousOpen = queue;
    this.first = queue;
  }

  /** Close `queue` when `result` settles. The caller returns the promise given back in its place. */
  closeWhenSettled<T>(queue: SpanQueue, result: Promise<T>, follow: Follow): Promise<T> {
    this.add(queue);
    return follow(
      result,
      (value) => {
        this.close(queue);
        return value;
      },
      (error) => {
        this.close(queue);
        throw error;
      },
    );
  }

  /** The span ends while tasks run. */
  settle(): void {
    for (let queue = this.first; queue !== null; queue = queue.nextOpen) queue.settle();
  }

  /** `queue` runs no longer. */
  remove(queue: SpanQueue): void {
    const { previousOpen, nextOpen } = queue;
    if (previousOpen === null) this.first = nextOpen;
    else previousOpen.nextOpen = nextOpen;
    if (nextOpen !== null) nextOpen.previousOpen = previousOpen;
  }

  private close(queue: SpanQueue): void {
    this.remove(queue);
    queue.close();
  }
}
