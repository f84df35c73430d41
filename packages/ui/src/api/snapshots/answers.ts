// What the endpoints of snapshots answer. Types only: the page reads them too.

/** A Node.js process of this machine. */
export interface NodeProcess {
  readonly pid: number;
  readonly command: string;
  /** Its environment asks for a flight recorder, or one writes into files. False: not to be seen from outside. */
  readonly hasRecorder: boolean;
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
