// What the endpoints that belong to no view answer. Types only: the page reads them too, so nothing of Node may be imported here.

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
    readonly perf: boolean;
    readonly history: boolean;
    readonly gold: boolean;
    readonly profiles: boolean;
    /** Snapshots can be taken and looked at. */
    readonly snapshots: boolean;
  };
}
