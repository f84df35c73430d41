// What the endpoints of sources, traces, groups, stalls and snapshots answer, and what the view Live is sent; larger views have files of their own.
// Types only: the page reads them too, so nothing of Node may be imported here. Times in microseconds.

/** How a request ended. */
export interface RequestStatus {
  /** Its status code of HTTP, if it has one. */
  readonly http?: number;
  /** By the status of its own span. */
  readonly isFailed: boolean;
}

/** Answer of /ui/api/sources: which sources are open, for the page's first look. */
export interface SourcesAnswer {
  /** Of the package. */
  readonly version: string;
  readonly sources: {
    readonly archive: boolean;
    /** Metrics of running services. */
    readonly metrics: boolean;
    readonly perf: boolean;
    readonly history: boolean;
    readonly gold: boolean;
    readonly profiles: boolean;
    /** Snapshots can be taken and looked at. */
    readonly snapshots: boolean;
  };
}

/** A trace in a list. */
export interface TraceRow {
  readonly traceId: string;
  readonly name: string;
  readonly service: string;
  /** Unix time. */
  readonly startUs: number;
  readonly durationUs: number;
  readonly spanCount: number;
  readonly errorCount: number;
  readonly isComplete: boolean;
  /** Of its root, or of the earliest span without one; absent where too much would have to be read. */
  readonly status?: RequestStatus;
}

/** Answer of /ui/api/traces: the newest first. */
export interface TracesAnswer {
  readonly traces: readonly TraceRow[];
  /** There are more: the parameter `before` for those that come behind these. */
  readonly next?: string;
  /** The search was ended by its bound: of what began then or before some may be missing, which `next` goes on with, unless asking for less is the only way. */
  readonly endedAtUs?: number;
}

/** Answer of /ui/api/traces/points: the same traces as columns, for a drawing of many. */
export interface PointsAnswer {
  /** Unix time, whole microseconds. */
  readonly startUs: readonly number[];
  /** Whole microseconds. */
  readonly durationUs: readonly number[];
  readonly isError: readonly (0 | 1)[];
  /** Index into `names`; -1 where there are too many names. */
  readonly name: readonly number[];
  readonly names: readonly string[];
  /** Trace ids of 32 digits, one behind the other. */
  readonly ids: string;
  readonly next?: string;
  readonly endedAtUs?: number;
}

/** Answer of /ui/api/traces/values: what can be chosen in the form. */
export interface ValuesAnswer {
  readonly services: readonly string[];
  /** Of the service that was asked for. */
  readonly operations: readonly string[];
}

/** Requests of one name to one service in the last minute. */
export interface LiveOperation {
  readonly service: string;
  readonly name: string;
  readonly count: number;
  /** Requests whose own status is an error. */
  readonly errors: number;
  /** Within 1 %. */
  readonly p50Us: number;
  readonly p95Us: number;
  readonly p99Us: number;
}

/** The request that stands for a trace in a list: the one that ended last, or took longest. */
export interface LiveRequest {
  readonly traceId: string;
  readonly name: string;
  readonly service: string;
  /** Unix time. */
  readonly startUs: number;
  readonly durationUs: number;
  readonly status: RequestStatus;
}

/** The last minute at one moment. */
export interface LiveMinute {
  /** Requests that ended in each second, the oldest first; fewer than 60 where not all of the minute was counted. */
  readonly ended: readonly number[];
  /** Of them, those with an error. */
  readonly failed: readonly number[];
  /** Traces that began here and whose first request ended in these seconds. */
  readonly traces: number;
  /** The busiest first. */
  readonly operations: readonly LiveOperation[];
  /** Requests of operations beyond those that are followed. */
  readonly further: number;
  readonly newest: readonly LiveRequest[];
  readonly slowest: readonly LiveRequest[];
  /** Files of the archive that cannot be read, or not whole. */
  readonly damagedFiles: number;
}

/** The last minute of an archive; `waitsFor` is the directory of one that is not there yet. */
export type LiveArchive = LiveMinute | { readonly waitsFor: string } | { readonly error: string };

/** Requests, calls or spans of one name in the last minute, as a service has measured them. */
export interface MeasuredRow {
  readonly service: string;
  /** `answered`, `processed`, `asked`, `sent` or `recorded`. */
  readonly what: string;
  readonly name: string;
  readonly count: number;
  readonly perSecond: number;
  readonly errors: number;
  /** As far as buckets tell. */
  readonly p50Us: number;
  readonly p95Us: number;
  readonly p99Us: number;
}

/** The last minute by the metrics of services, whatever is sampled. */
export interface LiveMeasured {
  /** Between the readings that were compared: less than a minute at first, 0 until there are two. */
  readonly seconds: number;
  /** The busiest first. */
  readonly rows: readonly MeasuredRow[];
  /** Services that cannot be read. */
  readonly failures: readonly { readonly url: string; readonly reason: string }[];
}

/** An event of /ui/api/live: what there is a source for. */
export interface LiveEvent {
  readonly archive?: LiveArchive;
  readonly measured?: LiveMeasured;
}

/** Traces of one shape. */
export interface GroupRow {
  /** Of the shape: 32 hex digits. */
  readonly digest: string;
  /** Of the root. */
  readonly name: string;
  readonly service: string;
  readonly count: number;
  readonly errorCount: number;
  /** Of each of its traces. */
  readonly spanCount: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** The slowest of them. */
  readonly slowestId: string;
  /** The shape as an indented tree. */
  readonly shape: string;
}

/** Answer of /ui/api/groups. */
export interface GroupsAnswer {
  /** Those with the most time in all first. */
  readonly groups: readonly GroupRow[];
  /** Traces that were read. */
  readonly traceCount: number;
  /** More were found than were read. */
  readonly isFull: boolean;
}

/** A side of a comparison: what one trace of it has, on average. */
export interface ComparedSide {
  readonly count: number;
  readonly us: number;
}

/** Spans of one name under the same names. */
export interface ComparedRow {
  readonly depth: number;
  readonly name: string;
  readonly left: ComparedSide;
  readonly right: ComparedSide;
}

/** Answer of /ui/api/compare. */
export interface CompareAnswer {
  readonly left: { readonly title: string; readonly traceCount: number };
  readonly right: { readonly title: string; readonly traceCount: number };
  /** Every row after the one it is under. */
  readonly rows: readonly ComparedRow[];
  /** Rows that are not told. */
  readonly leftOut: number;
}

/** A name with a trace. */
export interface NamedTime {
  readonly name: string;
  readonly traceId: string;
  readonly us: number;
}

/**
 * A stretch in which the event loop was busy or the thread pool full: `spansUs`, `gcUs`, `untracedUs`, `unknownUs`, `shortUs` and `idleUs` add up to
 * `durationUs`.
 */
export interface StallAnswer {
  readonly kind: 'busy' | 'pool';
  /** The service, and its process where that is known: `shop 4711`. */
  readonly process: string;
  /** Unix time. */
  readonly startUs: number;
  readonly durationUs: number;
  readonly spansUs: number;
  /** Those that had it longest. */
  readonly holders: readonly NamedTime[];
  readonly gcUs: number;
  readonly untracedUs: number;
  /** The functions that took most of that, innermost first, and the one that each stack goes by. */
  readonly untracedFrames: readonly {
    readonly name: string;
    readonly frames: readonly string[];
    readonly us: number;
  }[];
  readonly unknownUs: number;
  /** The loop worked in turns shorter than its bound. */
  readonly shortUs: number;
  /** The loop was free. */
  readonly idleUs: number;
  /** What was in the thread pool while it was full. */
  readonly poolWaits: readonly { readonly requests: string; readonly us: number }[];
  /** Those that waited longest. */
  readonly waiters: readonly NamedTime[];
  readonly waiterCount: number;
  readonly waitedUs: number;
}

/** Answer of /ui/api/stalls. */
export interface StallsAnswer {
  /** False where no process kept a timeline of that time. */
  readonly hasTimeline: boolean;
  /** The longest first. */
  readonly stalls: readonly StallAnswer[];
  /** What the answer does not rest on. */
  readonly notes: readonly string[];
}

/** A Node.js process of this machine. */
export interface NodeProcess {
  readonly pid: number;
  readonly command: string;
  /** Its environment asks for a flight recorder, or one writes into files; false where neither is seen, missing where the system shows neither. */
  readonly hasRecorder?: boolean;
}

/** Answer of /ui/api/snapshots/processes: those with a recorder first. */
export interface ProcessesAnswer {
  readonly processes: readonly NodeProcess[];
  /** Processes beyond those. */
  readonly omitted: number;
}

/** A snapshot that can be looked at. */
export interface SnapshotFile {
  /** What the parameter `snapshot` names it. */
  readonly id: string;
  /** Where it lies on the machine of the server. */
  readonly path: string;
  readonly bytes: number;
  /** Unix time. */
  readonly writtenUs: number;
}

/** Answer of /ui/api/snapshots: the newest first. */
export interface SnapshotsAnswer {
  readonly files: readonly SnapshotFile[];
  /** Older ones, which are not listed. */
  readonly omitted: number;
  /** Snapshots taken lie in a directory that goes when the server ends. */
  readonly isTemporary: boolean;
}

/** Answer of a POST to /ui/api/snapshots/take with `{ pid }`. */
export interface TakenAnswer {
  readonly id: string;
  readonly spanCount: number;
  readonly bufferedMs: number;
  readonly bytes: number;
}

/** Answer of /ui/api/snapshots/facts?snapshot=. */
export interface SnapshotFacts {
  readonly id: string;
  readonly service: string;
  /** Of the process; undefined where its resource does not say. */
  readonly pid?: number;
  readonly reason: string;
  /** Unix time. */
  readonly takenUs: number;
  readonly bufferedMs: number;
  readonly spanCount: number;
  readonly traceCount: number;
  /** Rows of the file that were damaged, and are left out. */
  readonly tornRows: number;
  /** Spans that could not be kept to be looked at. */
  readonly refused: number;
  /** False: nothing can be said of stalls. */
  readonly hasTimeline: boolean;
}
