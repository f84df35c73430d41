// Puts the event-loop timeline into the archive that its traces go to, second by second: what `spanline trace show` and `spanline stalls` take the use
// of the event loop from. What cannot be written is left out: the archive counts it.
import { timers } from '../base/calls/timers.js';
import type { Resource } from '../collector/reporter.js';
import type { Timeline } from '../flight-recorder/timeline/timeline.js';
import type { TimelineRow } from '../flight-recorder/timeline/timeline-row.js';
import { ownResource } from '../formats/library.js';
import type { ArchivedResource } from '../record/archived-span.js';

const INTERVAL_MS = 1000;
// A stretch that goes on is there up to now, and will be there again when it has ended.
const SETTLED_US = 20_000;

/** What is asked of an archive. */
export interface TimelineArchive {
  appendTimeline(rows: readonly TimelineRow[], resource: ArchivedResource, fromUs: number, toUs: number): void;
}

export const keepTimeline = (archive: TimelineArchive, timeline: Timeline, resource: Resource): void => {
  const owner = ownResource(resource);
  let fromUs = timers.wallMs() * 1000;
  const append = (settledUs: number): void => {
    const toUs = timers.wallMs() * 1000 - settledUs;
    if (toUs <= fromUs) return;
    const rows = timeline.rows(fromUs).filter(({ endUs }) => endUs > fromUs && endUs <= toUs);
    try {
      archive.appendTimeline(rows, owner, fromUs, toUs);
    } catch {
      // The archive is closed, or takes no more.
    }
    fromUs = toUs;
  };
  timers.setInterval(() => append(SETTLED_US), INTERVAL_MS).unref();
  process.prependListener('exit', () => append(0));
};
