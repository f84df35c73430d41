// One trace of a snapshot by the first digits of its id. Must not take one of several that begin so.
import type { Snapshot } from 'spanline/flight-recorder';
import type { ArchivedSpan } from 'spanline/internal/record';
import { shownSpan, shownView } from 'spanline/internal/timeline';
import { notFound, wrongUsage } from '../exit-code.js';

/** Its spans. */
export const findTrace = (snapshot: Snapshot, text: string): readonly ArchivedSpan[] => {
  const wanted = text.toLowerCase();
  if (!/^[0-9a-f]{1,32}$/.test(wanted))
    throw wrongUsage(`${JSON.stringify(text)} is no trace id: up to 32 hex digits, or the first of them`);
  const found = [...snapshot.traces()].filter(({ traceId }) => traceId.startsWith(wanted));
  if (found.length === 0) throw notFound(`there is no trace ${text} in the snapshot`);
  if (found.length > 1)
    throw wrongUsage(`${found.length} traces begin with ${text}; write more of the one that is meant`);
  const [trace] = found;
  const view = shownView(snapshot);
  return trace.spans.map((_, i) => shownSpan(trace, i, view));
};
