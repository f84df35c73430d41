// SpanGuard: the scope of `span.enter()`. Must give back the async context it found, and may be left twice.
import { enterLine, leaveLine } from '../local-span/entered-line.js';
import { state } from '../local-span/process-state.js';
import type { SpanLine } from '../local-span/span-line.js';

/** Keeps a span the local parent until disposed: `using guard = span.enter()`. */
export class SpanGuard implements Disposable {
  private readonly outer: SpanLine | undefined;
  private readonly endLabel: (() => void) | undefined;

  /** @internal */
  constructor(private line: SpanLine | null) {
    if (line === null) return;
    this.outer = enterLine(line);
    this.endLabel = state.labelling?.enter(line);
  }

  [Symbol.dispose](): void {
    const line = this.line;
    if (line === null) return;
    this.line = null;
    this.endLabel?.();
    leaveLine(line, this.outer);
  }
}
