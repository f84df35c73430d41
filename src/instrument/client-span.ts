// Spans of calls to others: children of the current span, or roots where there is none. Must not follow what is to be ignored.
import { enteredLine } from '../local-span/line-store.js';
import { Span } from '../span/span.js';
import type { SpanOptions } from '../span/span-options.js';

/** Undefined where nothing is to be told of the call: tracing is off, or the code around is not traced. */
export const startCall = (name: string, options: SpanOptions, requireParent: boolean): Span | undefined => {
  const line = enteredLine();
  if (line === undefined) {
    if (requireParent) return undefined;
    const root = Span.root(name, undefined, options);
    return root.context === undefined ? undefined : root;
  }
  if (!line.mount.isSpan) return undefined;
  return Span.startWithLocalParent(name, options);
};
