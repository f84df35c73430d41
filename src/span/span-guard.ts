// SpanGuard: the scope of `span.enter()`. Must give back the async context it found, and may be left twice.

import { state } from '../context/process-state.js';
import { enterLine, leaveLine } from '../local-span/entered-line.js';
import type { SpanLine } from '../local-span/span-line.js';
import type { TaskLines } from './task-lines.js';

/** Keeps a span the local parent until disposed: `using guard = span.enter()`. */
export class SpanGuard implements Disposable {
  private readonly outer: SpanLine | undefined;
  private readonly endLabel: (() => void) | undefined;

  /** @internal */
  constructor(
    private line: SpanLine | null,
    private readonly tasks: TaskLines | null = null,
  ) {
    if (line === null) return;
    tasks?.add(line);
    this.outer = enterLine(line);
    this.endLabel = state.labelling?.enter(line);
  }

  [Symbol.dispose](): void {
    const line = this.line;
    if (line === null) return;
    this.line = null;
    this.endLabel?.();
    this.tasks?.remove(line);
    leaveLine(line, this.outer);
  }
}
