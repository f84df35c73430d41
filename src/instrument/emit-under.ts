// Listeners of a stream that is read for a piece of work, called in the context of that work: what a connection brings comes in the context of
// the connection. Nothing about the events themselves may change.
import type { EventEmitter } from 'node:events';
import { lineStore } from '../local-span/line-store.js';
import type { SpanLine } from '../local-span/span-line.js';
import type { Span } from '../span/span.js';

const isWithin = (here: SpanLine | undefined, { mount }: SpanLine): boolean => {
  if (here === undefined || !here.mount.isSpan) return false;
  const { trace } = mount as Span;
  return here.mount === mount || (trace !== null && (here.mount as Span).trace === trace);
};

/** Calls listeners of `emitter` under `line`, but for those that are called in its trace already. */
export const emitUnder = (line: SpanLine, emitter: EventEmitter): void => {
  const { emit } = emitter;
  emitter.emit = function (this: EventEmitter, ...args: Parameters<EventEmitter['emit']>): boolean {
    if (isWithin(lineStore.getStore(), line)) return Reflect.apply(emit, this, args);
    return lineStore.run(line, () => Reflect.apply(emit, this, args) as boolean);
  };
};
