// Links of other traces to a trace. A span knows what it links to and not what links to it: the archive is searched, from the time on at which there
// was something to link to.
import type { Archive } from '@spanline/archive';
import type { LinkedAnswer, LinkedFromAnswer } from './answers.js';
import type { ReadTrace } from './trace-reads.js';

/** Traces that are looked at, the newest. */
const MAX_TRACES = 50;
/** Links that are told. */
const MAX_LINKS = 200;
/** What reading those traces may cost in memory. */
const MAX_BYTES = 64 * 2 ** 20;

/** The links to a trace, as the archive has them now. */
export const linkedFrom = async (
  archive: Archive,
  { drawn }: ReadTrace,
  signal: AbortSignal,
): Promise<LinkedFromAnswer> => {
  const [{ traceId }] = drawn.order;
  const search = { linkedTo: traceId, fromUnixNs: drawn.startUnixNs, limit: MAX_TRACES + 1 };
  const found = await archive.search(search, { signal });
  let bytes = 0;
  const wanted = found.slice(0, MAX_TRACES).filter((summary) => {
    bytes += summary.bytes;
    return bytes <= MAX_BYTES;
  });
  const traces = await archive.traces(
    wanted.map((summary) => summary.traceId),
    { signal },
  );
  const links = wanted.flatMap((summary): LinkedAnswer[] =>
    (traces.get(summary.traceId) ?? []).flatMap((span) =>
      span.links
        .filter((link) => link.traceId === traceId)
        .map((link) => ({
          traceId: summary.traceId,
          name: summary.name,
          startUs: Number(summary.startUnixNs / 1000n),
          spanId: span.spanId,
          spanName: span.name,
          to: link.spanId,
        })),
    ),
  );
  return { links: links.slice(0, MAX_LINKS), isFull: wanted.length < found.length || links.length > MAX_LINKS };
};
