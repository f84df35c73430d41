// What the option `flightRecorder` of `configure` does: checks it, and starts and ends the recorder. Loaded when the option is first given, by
// install.ts.
import type { Collector } from '../collector/collector.js';
import { state } from '../local-span/process-state.js';
import { startLane } from './lane/lane.js';
import { FlightRecorder } from './recorder.js';
import { type FlightRecorderOptions, resolveRecorder } from './recorder-options.js';

/** What loading the recorder gives. */
export interface RecorderRoom {
  /** Checks the option, and gives what starts the recorder in place of the one before. Throws `ERR_SPANLINE_OPTION`. */
  prepare(options: FlightRecorderOptions): (collector: Collector) => void;
}

export const recorderRoom: RecorderRoom = {
  prepare(options) {
    const wanted = resolveRecorder(options);
    return (collector) => {
      (state.flightRecorder as FlightRecorder | undefined)?.stop();
      state.flightRecorder = new FlightRecorder(collector, wanted, wanted.lane ? startLane() : undefined);
    };
  },
};
