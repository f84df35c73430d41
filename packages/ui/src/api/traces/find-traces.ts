// Runs a search of the page: a page of traces, and where the next one begins. No trace may come twice or be passed over between two pages.
import type { Archive } from '@spanline/archive';
import type { TraceSummary } from 'spanline/internal/record';
import { cursorText, type TraceQuery } from './search-of.js';

/** Traces that an archive finds at once. */
const MOST_AT_ONCE = 100_000;

/** Traces, the newest first. */
export interface FoundTraces {
  readonly traces: readonly TraceSummary[];
  /** For `before`: there are more. */
  readonly next?: string;
}

const isWanted = ({ startsFromUnixNs, before }: TraceQuery): ((trace: TraceSummary) => boolean) => {
  return ({ startUnixNs, traceId }) =>
    (startsFromUnixNs === undefined || startUnixNs >= startsFromUnixNs) &&
    (before === undefined ||
      startUnixNs < before.startUnixNs ||
      (startUnixNs === before.startUnixNs && traceId > before.traceId));
};

/** Traces that a query means; those of one start by id, as the archive has them. */
export const findTraces = async (archive: Archive, query: TraceQuery, signal: AbortSignal): Promise<FoundTraces> => {
  const { before, search, startsFromUnixNs = 0n } = query;
  const { limit, toUnixNs } = search;
  const latest = before !== undefined && (toUnixNs === undefined || before.startUnixNs < toUnixNs);
  const asked = { ...search, toUnixNs: latest ? before.startUnixNs : toUnixNs };
  const isMeant = isWanted(query);
  // One more tells whether there are more; and those at the cursor come again.
  for (let most = limit + (before === undefined ? 1 : 2); ; most *= 4) {
    const limited = Math.min(most, MOST_AT_ONCE);
    const found = await archive.search({ ...asked, limit: limited }, { signal });
    const traces = found.filter(isMeant);
    const isAll = found.length < limited || found[found.length - 1].startUnixNs < startsFromUnixNs;
    if (traces.length <= limit && !isAll && limited < MOST_AT_ONCE) continue;
    const page = traces.slice(0, limit);
    const isMore = traces.length > limit || (!isAll && page.length > 0);
    return { traces: page, ...(isMore ? { next: cursorText(page[page.length - 1]) } : {}) };
  }
};
