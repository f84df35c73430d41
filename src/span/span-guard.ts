// SpanGuard: the scope of `span.enter()`. Must give back the async context it found, and may be left twice.
//
// The queues of one span whose tasks still run: `span.run` of an async function, closed when its promise settles, and
// scopes of `span.enter`. When the span ends first, what they hold already is handed over.

import { state } from '../context/process-state.js';
import { enterQueue, leaveQueue } from '../local-span/queue-store.js';
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

/** Keeps a span the local parent until disposed: `using guard = span.enter()`. */
export class SpanGuard implements Disposable {
  private readonly outer: SpanQueue | undefined;
  private readonly endLabel: (() => void) | undefined;

  /** @internal */
  constructor(
    private queue: SpanQueue | null,
    private readonly tasks: TaskQueues | null = null,
  ) {
    if (queue === null) return;
    tasks?.add(queue);
    this.outer = enterQueue(queue);
    this.endLabel = state.labelling?.enter(queue);
  }

  [Symbol.dispose](): void {
    const queue = this.queue;
    if (queue === null) return;
    this.queue = null;
    this.endLabel?.();
    this.tasks?.remove(queue);
    leaveQueue(queue, this.outer);
  }
}
