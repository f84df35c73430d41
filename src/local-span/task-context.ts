// The async context: which line is the local parent here. ONE store per process; it is entered once per task, never once per local span.
// Knows lines by interface only: `line-store.ts` gives them their class.

import { state, type TaskLine } from '../context/process-state.js';
import { Counter, count } from '../rows/counters.js';
import { closeAfterCall } from './bound-calls.js';

const { lineStore } = state;

/** The line of this task, or undefined outside any `span.run`. */
export const currentTaskLine = (): TaskLine | undefined => {
  const line = lineStore.getStore();
  return line === undefined || line.isLive ? line : lineHere(line);
};

/** The line whose span is the local parent of this task: for its identity, not for local spans. */
export const enteredTaskLine = (): TaskLine | undefined => {
  const line = lineStore.getStore();
  return line === undefined || line.isLive ? line : stillEntered(line);
};

/** `line`, or what was current around it when its scope was left while another was innermost. */
export const stillEntered = (line: TaskLine | undefined): TaskLine | undefined => {
  let at = line;
  while (at !== undefined && at.scope.leftTo !== null) at = at.scope.leftTo;
  return at;
};

// The scope of `line` is over, or it does not record. A stretch that goes on after its scope gets a line of its own: one
// line for all of them would hang what comes later on whatever one left open.
const lineHere = (line: TaskLine): TaskLine | undefined => {
  const entered = stillEntered(line);
  if (entered === undefined || !entered.sampled || entered.isLive) return entered;
  const stretch = entered.stretch();
  lineStore.enter(stretch);
  closeAfterCall(stretch);
  return stretch;
};

/** The line of this task when it records; undefined when switched off. Counts the call when there is no parent. */
export const recordingTaskLine = (): TaskLine | undefined => {
  if (!state.enabled) return undefined;
  const line = lineStore.getStore();
  if (line === undefined) {
    count(Counter.localSpansWithoutParent);
    return undefined;
  }
  if (line.isLive) return line;
  return line.sampled || line.leftTo !== null ? recordingAfter(line) : undefined;
};

const recordingAfter = (line: TaskLine): TaskLine | undefined => {
  const here = lineHere(line);
  if (here === undefined) count(Counter.localSpansWithoutParent);
  return here?.sampled ? here : undefined;
};
