// The async context: which SpanLine is the local parent here. ONE store per process; it is entered once per task,
// never once per local span.
import { closeAfterCall } from './bound-calls.js';
import { Counter, count } from './counters.js';
import { state } from './process-state.js';
import type { SpanLine } from './span-line.js';

export const lineStore = state.lineStore;

/** Run `fn` with `line` as the current one. */
export const runOnLine = <T>(line: SpanLine, fn: () => T): T => {
  const { labelling } = state;
  return labelling === undefined ? lineStore.run(line, fn) : labelling.run(line, fn);
};

/**
 * The line of this task, or undefined outside any `span.run`. Hold it only until the next `await`: it saves the look-up of
 * the local parent where many local spans start in one stretch.
 *
 * @example
 * ```ts
 * const root = Span.root('sort');
 * root.run(() => {
 *   const line = currentLine();
 *   for (let i = 0; i < 100; i++) line?.start('compare').end();
 * });
 * root.end();
 * ```
 */
export const currentLine = (): SpanLine | undefined => {
  const line = lineStore.getStore();
  return line === undefined || line.isLive ? line : lineHere(line);
};

/** The line whose span is the local parent of this task: for its identity, not for local spans. */
export const enteredLine = (): SpanLine | undefined => {
  const line = lineStore.getStore();
  return line === undefined || line.isLive ? line : stillEntered(line);
};

/** `line`, or what was current around it when its scope was left while another was innermost. */
export const stillEntered = (line: SpanLine | undefined): SpanLine | undefined => {
  let at = line;
  while (at !== undefined && at.scope.leftTo !== null) at = at.scope.leftTo;
  return at;
};

// The scope of `line` is over, or it does not record. A stretch that goes on after its scope gets a line of its own: one
// line for all of them would hang what comes later on whatever one left open.
const lineHere = (line: SpanLine): SpanLine | undefined => {
  const entered = stillEntered(line);
  if (entered === undefined || !entered.sampled || entered.isLive) return entered;
  const stretch = entered.stretch();
  lineStore.enterWith(stretch);
  closeAfterCall(stretch);
  return stretch;
};

/** The line of this task when it records; undefined when switched off. Counts the call when there is no parent. */
export const recordingLine = (): SpanLine | undefined => {
  if (!state.enabled) return undefined;
  const line = lineStore.getStore();
  if (line === undefined) {
    count(Counter.localSpansWithoutParent);
    return undefined;
  }
  if (line.isLive) return line;
  return line.sampled || line.leftTo !== null ? recordingLineAfter(line) : undefined;
};

const recordingLineAfter = (line: SpanLine): SpanLine | undefined => {
  const here = lineHere(line);
  if (here === undefined) count(Counter.localSpansWithoutParent);
  return here?.sampled ? here : undefined;
};
