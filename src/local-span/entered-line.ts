// Entering a line for a stretch of code and leaving it again, for scopes that are no function call. Leaving must give
// back the context that was there before, also when two scopes overlap and are left in the wrong order.
import { lineStore } from './line-store.js';
import type { SpanLine } from './span-line.js';

// Lines left while another was innermost, with what was outside of them. Almost always empty.
const leftEarly = new WeakMap<SpanLine, { readonly outer: SpanLine | undefined }>();
let hasLeftEarly = false;

/** Make `line` the current one; gives the line that was current, for {@link leaveLine}. */
export const enterLine = (line: SpanLine): SpanLine | undefined => {
  const outer = lineStore.getStore();
  lineStore.enterWith(line);
  return outer;
};

/** Give the context back and close the line. */
export const leaveLine = (line: SpanLine, outer: SpanLine | undefined): void => {
  if (lineStore.getStore() === line) lineStore.enterWith((hasLeftEarly ? stillEntered(outer) : outer) as SpanLine);
  else {
    // Another scope or task was entered since. Its end must not bring back this line, which is over.
    leftEarly.set(line, { outer });
    hasLeftEarly = true;
  }
  line.close();
};

const stillEntered = (line: SpanLine | undefined): SpanLine | undefined => {
  let outer = line;
  for (let left = outer && leftEarly.get(outer); left !== undefined; left = outer && leftEarly.get(outer)) {
    outer = left.outer;
  }
  return outer;
};
