// Labels samples with spans while a profile is taken: what runs under a span runs in a label with the ids of its trace and its own.
// It is on the recording path of users' code: nothing here may throw, and without a profile nothing here runs.

import type { Span, SpanContext, SpanQueue } from 'spanline';
import { timers } from 'spanline/internal/base';
import { type QueueMount, queueStore, type SpanLabelling, spanHex, state } from 'spanline/internal/rows';
import type { LabelRecord } from '../labelled-profile.js';
import { ownCode } from '../own-frames.js';
import { freshIn, labelsOf, nested } from '../scope.js';
import { type Labelled, makeCurrent, NO_SCOPE, register, type Scope } from '../shared-state.js';

const endOwnCode = ownCode();

/** Keys of the labels: 32 and 16 lower-case hex digits. */
export const TRACE_ID_LABEL = 'trace_id';
export const SPAN_ID_LABEL = 'span_id';

/** The label of one run of a span. Keeps numbers only; text is made for those that a sample has met. */
class SpanLabel implements Labelled {
  slot: unknown = undefined;
  /** The frame of a run is free again when the run is over. */
  readonly isDisposed = true;
  private made: LabelRecord | undefined;

  constructor(
    private readonly trace: SpanContext,
    private readonly idHi: number,
    private readonly idLo: number,
  ) {}

  get record(): LabelRecord {
    this.made ??= Object.freeze({
      [TRACE_ID_LABEL]: this.trace.traceId,
      [SPAN_ID_LABEL]: spanHex(this.idHi, this.idLo),
    });
    return this.made;
  }

  // Whole profiles are joined with spans afterwards; a label of one run is of no use to anyone.
  credit(): void {}
}

// A span takes the place of the span around it: spans nest deeper than labels may.
const withoutSpan = (outer: Scope): Scope => {
  if (outer.label instanceof SpanLabel) return outer.outer ?? NO_SCOPE;
  for (let at = outer.outer; at !== undefined; at = at.outer) {
    if (!(at.label instanceof SpanLabel)) continue;
    return labelsOf(outer)
      .filter((label) => !(label instanceof SpanLabel))
      .reduce(nested, NO_SCOPE);
  }
  return outer;
};

const scopeIn = (outer: Scope, mount: QueueMount): Scope | undefined => {
  if (!mount.isSpan) return undefined;
  const { trace, idHi, idLo } = mount as Span;
  if (trace === null) return undefined;
  const label = new SpanLabel(trace.context, idHi, idLo);
  return freshIn(withoutSpan(outer), label);
};

// A frame on the stack too, for carriers that read labels there; the frame is free again when the call is over.
const runInFrame = <T>(pool: NonNullable<typeof register.pool>, label: Labelled, queue: SpanQueue, fn: () => T): T => {
  try {
    return pool.run(label, () => queueStore.run(queue, fn));
  } finally {
    pool.release(label);
  }
};

const runInSpan = <T>(queue: SpanQueue, fn: () => T): T => {
  const outer = register.current;
  const scope = scopeIn(outer, queue.mount);
  if (scope === undefined) return queueStore.run(queue, fn);
  const { pool } = register;
  makeCurrent(scope);
  try {
    return pool === undefined ? queueStore.run(queue, fn) : runInFrame(pool, scope.label as Labelled, queue, fn);
  } finally {
    makeCurrent(outer);
  }
};

let isWatching = false;

// A guard held across an await is not a function call that ends: without this, its span would label whatever the event loop runs next,
// for ever. A microtask finds the stack empty, and what continues after the await has the label from its promise.
const endWithTask = (): void => {
  if (isWatching) return;
  isWatching = true;
  timers.queueMicrotask(() => {
    isWatching = false;
    makeCurrent(NO_SCOPE);
  });
};

const enterSpan = (queue: SpanQueue): (() => void) | undefined => {
  const outer = register.current;
  const scope = scopeIn(outer, queue.mount);
  if (scope === undefined) return undefined;
  makeCurrent(scope);
  endWithTask();
  return () => {
    // Else another is current that was entered since: its end gives back what it found.
    if (register.current === scope) makeCurrent(outer);
  };
};

/** Labels spans until the returned function is called. */
export const labelSpans = (): (() => void) => {
  const labelling: SpanLabelling = { run: runInSpan, enter: enterSpan };
  state.labelling = labelling;
  return () => {
    if (state.labelling === labelling) state.labelling = undefined;
  };
};

endOwnCode();
