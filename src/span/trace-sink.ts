// What the span room needs from the collector above it. An interface only, so that the room below never imports it.
import { state } from '../local-span/process-state.js';
import type { ActiveTrace } from './active-trace.js';
import type { Sampler } from './sampler.js';

/** Bounds a sink sets for the traces it accepts. */
export interface TraceLimits {
  /** Spans kept of one trace, local spans included. */
  readonly maxSpansPerTrace: number;
  /** Properties, events and links kept of one cross-async span, each. */
  readonly maxPropertiesPerSpan: number;
  readonly maxEventsPerSpan: number;
  readonly maxLinksPerSpan: number;
}

/** Takes traces as they begin, end and grow late. No method may throw. */
export interface TraceSink {
  readonly sampler: Sampler;
  readonly limits: TraceLimits;
  /** A sampled root started. */
  opened(trace: ActiveTrace): void;
  /** The root ended: the trace may be reported. */
  ended(trace: ActiveTrace): void;
  /** The root was cancelled: nothing of the trace may be reported. */
  cancelled(trace: ActiveTrace): void;
  /** Spans were added to a trace of this sink, `bytes` by estimate. */
  grew(trace: ActiveTrace, spans: number, bytes: number): void;
}

/** The sink of roots that name none. */
export const defaultSink = (): TraceSink | undefined => state.defaultSink as TraceSink | undefined;

export const setDefaultSink = (sink: TraceSink): void => {
  state.defaultSink = sink;
};
