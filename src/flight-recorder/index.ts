// The flight recorder's room from outside: the last minute in memory, snapshots of it, and where the time of a span went.
export type { LanePart, LaneRow } from './lane/lane-row.js';
export type { Snapshot, SnapshotReason, SnapshotSpan, SnapshotTrace } from './snapshot-types.js';
