// A snapshot of the flight recorder into an archive: its traces, and the timeline of its process, so that everything that reads an archive can be asked of it.
// Nothing may be lost without being counted.
import { LimitError } from '@spanline/graph';
import { ownResource } from 'spanline/internal/formats';
import type { ArchivedResource } from 'spanline/internal/record';
import { type Snapshot, SnapshotReading, shownResource, type TimelineRow } from 'spanline/internal/timeline';
import type { Archive } from './archive.js';
import { appendAll } from './check-span.js';

/** Rows of a timeline appended at a time. */
const TIMELINE_ROWS = 1000;

/** What an archive has taken of a snapshot. */
export interface KeptSnapshot {
  readonly traceCount: number;
  readonly spanCount: number;
  /** Spans that it can never keep, and why not the first of them. */
  readonly refused: number;
  readonly reason?: string;
}

/** How a snapshot is kept. */
interface KeepOptions {
  readonly signal?: AbortSignal;
  /** Told of what is done so far. */
  readonly onProgress?: (traceCount: number, spanCount: number) => void;
}

/** Rows of one stretch; in halves where they are too much for one line of a file. */
const keepRows = (
  archive: Archive,
  rows: readonly TimelineRow[],
  resource: ArchivedResource,
  fromUs: number,
  toUs: number,
): void => {
  try {
    archive.appendTimeline(rows, resource, fromUs, toUs);
  } catch (error) {
    if (!(error instanceof LimitError) || rows.length < 2) throw error;
    const middle = rows.length >> 1;
    const atUs = rows[middle].startUs;
    keepRows(archive, rows.slice(0, middle), resource, fromUs, atUs);
    keepRows(archive, rows.slice(middle), resource, atUs, toUs);
  }
};

/** The timeline as stretches that follow each other and leave nothing open between them. */
const keepTimeline = (archive: Archive, snapshot: Snapshot): void => {
  const { timeline, timelineFromUs, takenUnixUs } = snapshot;
  if (timelineFromUs === undefined) return;
  const resource = ownResource(shownResource(snapshot));
  const rows = timeline.toSorted((a, b) => a.startUs - b.startUs);
  let fromUs = Math.max(0, timelineFromUs);
  for (let at = 0; at === 0 || at < rows.length; at += TIMELINE_ROWS) {
    const toUs = Math.max(fromUs, rows[at + TIMELINE_ROWS]?.startUs ?? takenUnixUs);
    keepRows(archive, rows.slice(at, at + TIMELINE_ROWS), resource, fromUs, toUs);
    fromUs = toUs;
  }
};

/**
 * Append a snapshot, in slices of time; it is sealed when this resolves. Rejects with `ERR_SPANLINE_FLIGHT_ABORTED` when the signal fires, and as
 * `append`, `appendTimeline` and `seal` do.
 */
export const keepSnapshot = async (
  archive: Archive,
  snapshot: Snapshot,
  { signal, onProgress }: KeepOptions = {},
): Promise<KeptSnapshot> => {
  const reading = new SnapshotReading(snapshot, signal);
  let refused = 0;
  let reason: string | undefined;
  for await (const { spans } of reading.shown()) {
    const { invalid, reason: why } = await appendAll(archive, spans);
    refused += invalid;
    reason ??= why;
    onProgress?.(reading.traceCount, reading.spanCount);
  }
  keepTimeline(archive, snapshot);
  await archive.seal();
  // Whoever opened the archive for it may close it now, and nobody else would sort it.
  await archive.tidy();
  return { traceCount: reading.traceCount, spanCount: reading.spanCount - refused, refused, reason };
};
