// SpanGuard: the scope of `span.enter()`. Must restore the async context it found, and only if it is still the innermost.
import { lineStore } from '../local-span/line-store.js';
import type { SpanLine } from '../local-span/span-line.js';

/** Keeps a span the local parent until disposed: `using guard = span.enter()`. */
export class SpanGuard implements Disposable {
  private readonly outer: SpanLine | undefined;

  /** @internal */
  constructor(private line: SpanLine | null) {
    if (line === null) return;
    this.outer = lineStore.getStore();
    lineStore.enterWith(line);
  }

  [Symbol.dispose](): void {
    const line = this.line;
    if (line === null) return;
    this.line = null;
    if (lineStore.getStore() === line) lineStore.enterWith(this.outer as SpanLine);
    line.close();
  }
}
