// The entry point of the flight recorder: the last minute in memory, snapshots of it, and where the time of a span went. Whoever imports it
// has the recorder that `configure` would look for, a bundle included.
import { provideRecorder } from './install.js';
import { recorderFeature } from './recorder-feature.js';

export type { HotFrames, LoopHolder, PoolWait, TimeBreakdown } from './breakdown/breakdown.js';
export { BreakdownIndex } from './breakdown/breakdown-index.js';
export { drawStalls } from './breakdown/draw-stalls.js';
export { formatBreakdown } from './breakdown/format-breakdown.js';
export { breakdownIndexOf } from './breakdown/of-snapshot.js';
export { type Stall, stalls } from './breakdown/stalls.js';
export { timeBreakdown } from './breakdown/time-breakdown.js';
export type { SpanKey, TimedSpan, TimeWindow } from './breakdown/timed-span.js';
export type { Waiter } from './breakdown/waiters.js';
export { FlightError, type FlightErrorCode } from './flight-error.js';
export { readSnapshotFile } from './read-snapshot.js';
export type { FlightRecorderStats } from './recorder.js';
export type { FlightRecorderOptions } from './recorder-options.js';
export { recoverSnapshot } from './recover-snapshot.js';
export { type ReportedSnapshot, type ReportSnapshotOptions, reportSnapshot } from './report-snapshot.js';
export { saveSnapshot, snapshot } from './snapshot.js';
export type { Snapshot, SnapshotReason, SnapshotSpan, SnapshotTrace } from './snapshot-types.js';
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
