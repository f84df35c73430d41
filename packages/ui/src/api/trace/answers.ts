// What the endpoints of one trace answer. Types only: the page reads them too, so nothing of Node may be imported here. Times are microseconds
// since the trace began.

/** Spans as columns, in the order of a printed tree; a place in them stands for the span. */
export interface TraceColumns {
  readonly ids: readonly string[];
  /** Place of the parent; -1 for a root. */
  readonly parent: readonly number[];
  /** Index into `names`. */
  readonly name: readonly number[];
  /** Index into `services`. */
  readonly service: readonly number[];
  readonly startUs: readonly number[];
  readonly durationUs: readonly number[];
  /** Without what its children cover. */
  readonly selfUs: readonly number[];
  readonly isError: readonly (0 | 1)[];
  readonly isCritical: readonly (0 | 1)[];
}

/** Where the time of a span went. */
export interface BreakdownAnswer {
  /** Place among the spans. */
  readonly span: number;
  /** In words. */
  readonly text: string;
  readonly durationUs: number;
  readonly parts: readonly { readonly kind: PartKind; readonly us: number }[];
  readonly others: readonly { readonly name: string; readonly traceId: string; readonly us: number }[];
  /** Functions that ran where no span was, the hottest first; each from the innermost of the program outwards. */
  readonly frames: readonly { readonly frames: readonly string[]; readonly us: number }[];
  /** Of the time that was waited: the thread pool was full, and what was in it. */
  readonly poolUs: number;
  readonly poolWaits: readonly { readonly requests: string; readonly us: number }[];
}

/** Kinds of time; the page has a color for each. */
export type PartKind = 'own' | 'gc' | 'loop' | 'untraced' | 'short' | 'waiting' | 'unknown';

/** A collection, a busy stretch of the event loop, or one in which the thread pool was full. */
export interface TimelineStretchAnswer {
  readonly kind: 'gc' | 'busy' | 'pool';
  readonly startUs: number;
  readonly durationUs: number;
  /** Of a collection: its kind. Of a full thread pool: what is in it. */
  readonly detail: string;
  /** Who had the loop: names and traces of the spans, or the innermost function where no span was. */
  readonly holders: readonly { readonly name: string; readonly traceId: string; readonly us: number }[];
}

/** What one process did meanwhile. */
export interface TimelineAnswer {
  /** The service, and its process where that is known: `shop 4711`. */
  readonly process: string;
  /** In order of time. */
  readonly stretches: readonly TimelineStretchAnswer[];
  /** The shortest, of which there are too many. */
  readonly leftOut: number;
}

/** A link that goes out from a span. */
export interface LinkAnswer {
  /** Place of the span. */
  readonly from: number;
  readonly traceId: string;
  readonly spanId: string;
}

/** Answer of /ui/api/trace?id=. */
export interface TraceAnswer {
  readonly traceId: string;
  readonly name: string;
  readonly startUnixUs: number;
  readonly durationUs: number;
  readonly names: readonly string[];
  readonly services: readonly string[];
  readonly spans: TraceColumns;
  /** Spans that are not in the answer: there are too many. */
  readonly leftOut: number;
  readonly breakdowns: readonly BreakdownAnswer[];
  readonly timelines: readonly TimelineAnswer[];
  readonly links: readonly LinkAnswer[];
  /** Links beyond those. */
  readonly linksLeftOut: number;
}

/** Answer of /ui/api/trace/find?id=&text=: places of the spans that have the text in a name, a property, an event or the status. */
export interface FindAnswer {
  readonly places: readonly number[];
}

/** A link from a span of another trace to this one. */
export interface LinkedAnswer {
  readonly traceId: string;
  /** Of the other trace. */
  readonly name: string;
  /** Unix time. */
  readonly startUs: number;
  /** The span that links. */
  readonly spanId: string;
  readonly spanName: string;
  /** What it links to: a span of this trace, which may be absent. */
  readonly to: string;
}

/** Answer of /ui/api/trace/linked?id=. */
export interface LinkedFromAnswer {
  /** Of the newest traces first. */
  readonly links: readonly LinkedAnswer[];
  /** There are more. */
  readonly isFull: boolean;
}

/** Answer of /ui/api/trace/span?id=&span=: what is only shown of a span that somebody looks at. */
export interface SpanAnswer {
  readonly spanId: string;
  readonly name: string;
  readonly kind: string;
  readonly status: string;
  readonly properties: readonly (readonly [key: string, value: string])[];
  readonly resource: readonly (readonly [key: string, value: string])[];
  readonly events: readonly {
    readonly name: string;
    readonly atUs: number;
    readonly properties: readonly (readonly [key: string, value: string])[];
  }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly breakdown?: BreakdownAnswer;
}
