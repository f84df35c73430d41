// The default sink: the collector of roots that name none. Set by the collector above, so that this module never imports it.
import { state } from '../context/process-state.js';
import type { TraceSink } from './active-trace.js';

/** The sink of roots that name none. */
export const defaultSink = (): TraceSink | undefined => state.defaultSink as TraceSink | undefined;

export const setDefaultSink = (sink: TraceSink): void => {
  state.defaultSink = sink;
};
