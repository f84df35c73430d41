// SpanGuard: the scope of `span.enter()`. Must give back the async context it found, and may be left twice.

import { state } from '../context/process-state.js';
import { enterQueue, leaveQueue } from '../local-span/entered-queue.js';
import type { SpanQueue } from '../local-span/span-queue.js';
import type { TaskQueues } from './task-queues.js';

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
