// What packages beside the core use of the event loop's timeline, of the breakdown of a span's time by it, and of snapshots. Loading it starts nothing.
export { divide } from '../flight-recorder/division/divide.js';
export type { Division } from '../flight-recorder/division/division.js';
export { DivisionIndex } from '../flight-recorder/division/division-index.js';
export { drawStalls } from '../flight-recorder/division/draw-stalls.js';
export { formatDivision } from '../flight-recorder/division/format-division.js';
export { divisionIndexOf } from '../flight-recorder/division/of-snapshot.js';
export { type Stall, stalls } from '../flight-recorder/division/stalls.js';
export type { TimedSpan, TimeWindow } from '../flight-recorder/division/timed-span.js';
export { partsOfName } from '../flight-recorder/rows-files.js';
export { OPEN_KEY, shownResource, shownSpan, shownView } from '../flight-recorder/shown-spans.js';
export { SnapshotReading } from '../flight-recorder/snapshot-reading.js';
export type { Snapshot } from '../flight-recorder/snapshot-types.js';
export { namedStack, stackName } from '../flight-recorder/timeline/stack-name.js';
export type { TimelinePart, TimelineRow } from '../flight-recorder/timeline/timeline-row.js';
export { timelineTracks } from '../flight-recorder/timeline/timeline-tracks.js';
