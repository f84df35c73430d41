// What packages beside the core use of the event loop's timeline, of the breakdown of a span's time by it, and of snapshots. Loading it starts nothing.

export { BreakdownIndex } from '../flight-recorder/breakdown/breakdown-index.js';
export { drawStalls, formatBreakdown } from '../flight-recorder/breakdown/format-breakdown.js';
export { type Stall, stalls } from '../flight-recorder/breakdown/stalls.js';
export type { TimedSpan, TimeWindow } from '../flight-recorder/breakdown/stretches.js';
export type { TimeBreakdown } from '../flight-recorder/breakdown/tally.js';
export { breakdownIndexOf, timeBreakdown } from '../flight-recorder/breakdown/time-breakdown.js';
export { partsOfName } from '../flight-recorder/rows-files.js';
export { OPEN_KEY, SnapshotReading, shownResource, shownSpan, shownView } from '../flight-recorder/snapshot-reading.js';
export type { Snapshot } from '../flight-recorder/snapshot-types.js';
export { namedStack, stackName } from '../flight-recorder/timeline/frames.js';
export type { TimelinePart, TimelineRow } from '../flight-recorder/timeline/timeline-row.js';
export { timelineTracks } from '../flight-recorder/timeline/timeline-tracks.js';
