// What the option `flightRecorder` of `configure` does: checks it, and starts and ends the recorder. Loaded when the option is first given, by
// install.ts.
import { OptionError } from '../base/errors.js';
import type { Collector } from '../collector/collector.js';
import { state } from '../context/process-state.js';
import { FlightRecorder } from './recorder.js';
import { type FlightRecorderOptions, type ResolvedRecorder, resolveRecorder } from './recorder-options.js';
import { monitorEventLoop } from './timeline/timeline.js';

/** What loading the recorder gives. */
export interface RecorderFeature {
  /** Checks the option, and gives what starts the recorder in place of the one before. Either throws `ERR_SPANLINE_OPTION`. */
  prepare(options: FlightRecorderOptions): (collector: Collector) => void;
}

/** Throws `ERR_SPANLINE_OPTION` where its files cannot be opened, and has then changed nothing. */
const makeRecorder = (collector: Collector, options: ResolvedRecorder): FlightRecorder => {
  const timeline = options.timeline ? monitorEventLoop() : undefined;
  try {
    return new FlightRecorder(collector, options, timeline);
  } catch (cause) {
    timeline?.stop();
    const why = (cause as Error).message;
    throw new OptionError(`Option "flightRecorder.file": ${why}; name a directory that may be written to.`, { cause });
  }
};

export const recorderFeature: RecorderFeature = {
  prepare(options) {
    const wanted = resolveRecorder(options);
    return (collector) => {
      const next = makeRecorder(collector, wanted);
      (state.flightRecorder as FlightRecorder | undefined)?.stop();
      state.flightRecorder = next;
      next.start();
    };
  },
};
