// The async context with its lines as the class that they are. Must hold no logic of contexts: `task-context.ts` has it, below the class.
import { now, nsPerTick } from '../clock/index.js';
import type { FrameStore } from '../context/frame-store.js';
import { type LineSwitches, state } from '../context/process-state.js';
import type { SpanLine } from './span-line.js';
import { currentTaskLine, enteredTaskLine, recordingTaskLine } from './task-context.js';

/** Work that is shorter is not told to the lane. */
const LONG_NS = 1e6;

export const lineStore = state.lineStore as FrameStore<SpanLine>;

/** Run `fn` with `line` as the current one. */
export const runOnLine = <T>(line: SpanLine, fn: () => T): T => {
  const { labelling, carriesContexts, lineSwitches } = state;
  if (carriesContexts) line.context ??= lineStore.getStore()?.context ?? null;
  if (lineSwitches !== undefined) return runWatched(line, fn, lineSwitches);
  return labelling === undefined ? lineStore.run(line, fn) : labelling.run(line, fn);
};

const runWatched = <T>(line: SpanLine, fn: () => T, switches: LineSwitches): T => {
  const { labelling } = state;
  const start = now();
  switches.counts[0]++;
  try {
    return labelling === undefined ? lineStore.run(line, fn) : labelling.run(line, fn);
  } finally {
    switches.left = line;
    switches.counts[1]++;
    const ns = (now() - start) * nsPerTick();
    if (ns >= LONG_NS) switches.ran(line, ns);
  }
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
export const currentLine = currentTaskLine as () => SpanLine | undefined;

/** The line whose span is the local parent of this task: for its identity, not for local spans. */
export const enteredLine = enteredTaskLine as () => SpanLine | undefined;

/** The line of this task when it records; undefined when switched off. Counts the call when there is no parent. */
export const recordingLine = recordingTaskLine as () => SpanLine | undefined;
