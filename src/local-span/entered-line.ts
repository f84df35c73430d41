// Entering a line for a stretch of code and leaving it again, for scopes that are no function call. Leaving must give
// back the context that was there before, also when two scopes overlap and are left in the wrong order.
import { lineStore } from './line-store.js';
import type { SpanLine } from './span-line.js';
import { stillEntered } from './task-context.js';

/** Make `line` the current one; gives the line that was current, for {@link leaveLine}. */
export const enterLine = (line: SpanLine): SpanLine | undefined => {
  const outer = lineStore.getStore();
  line.isEntered = true;
  line.context ??= outer?.context ?? null;
  lineStore.enter(line);
  return outer;
};

/** Give the context back and close the line. */
export const leaveLine = (line: SpanLine, outer: SpanLine | undefined): void => {
  const current = lineStore.getStore();
  if (current?.scope === line) {
    lineStore.enter(stillEntered(outer) as SpanLine);
    // A turn ended in the scope of a span that had ended, and what came then has a line of its own.
    if (current !== line) current.close();
  }
  // Another scope or task was entered since. Its end brings back this line, which is over: what was around it counts.
  else line.leftTo = outer;
  line.close();
};
