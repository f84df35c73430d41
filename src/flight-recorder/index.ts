// The entry point of the flight recorder: the last minute in memory, snapshots of it, and where the time of a span went. Whoever imports it
// has the recorder that `configure` would look for, a bundle included.
import { provideRecorder } from './install.js';
import { recorderFeature } from './recorder-feature.js';

export { BreakdownIndex } from './breakdown/breakdown-index.js';
export { drawStalls, formatBreakdown } from './breakdown/format-breakdown.js';
export { type Stall, stalls, type Waiter } from './breakdown/stalls.js';
export type { SpanKey, TimedSpan, TimeWindow } from './breakdown/stretches.js';
export type { HotFrames, LoopHolder, PoolWait, TimeBreakdown } from './breakdown/tally.js';
export { breakdownIndexOf, timeBreakdown } from './breakdown/time-breakdown.js';
export { readSnapshotFile, recoverSnapshot } from './read-snapshot.js';
export type { FlightRecorderStats } from './recorder.js';
export type { FlightRecorderOptions } from './recorder-options.js';
export { type ReportedSnapshot, type ReportSnapshotOptions, reportSnapshot } from './report-snapshot.js';
export { saveSnapshot, snapshot } from './snapshot.js';
export {
  FlightError,
  type FlightErrorCode,
  type Snapshot,
  type SnapshotReason,
  type SnapshotSpan,
  type SnapshotTrace,
} from './snapshot-types.js';
export { monitorEventLoop, type Timeline, type TimelineOptions, type TimelineStats } from './timeline/timeline.js';
export type { TimelinePart, TimelineRow } from './timeline/timeline-row.js';
export type { TriggerOptions } from './trigger-options.js';
export {
  SNAPSHOT_FORMATS,
  type SnapshotFormat,
  type WriteSnapshotOptions,
  type WrittenSnapshot,
  writeSnapshot,
} from './write-snapshot.js';

provideRecorder(recorderFeature);
