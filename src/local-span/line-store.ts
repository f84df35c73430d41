// The async context: which SpanLine is the local parent here. ONE store per process; it is entered once per task,
// never once per local span.
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
export const currentLine = (): SpanLine | undefined => lineStore.getStore();

/** The line of this task when it records; undefined when switched off. Counts the call when there is no parent. */
export const recordingLine = (): SpanLine | undefined => {
  if (!state.enabled) return undefined;
  const line = lineStore.getStore();
  if (line === undefined) {
    count(Counter.localSpansWithoutParent);
    return undefined;
  }
  return line.sampled ? line : undefined;
};
