// Puts the option `flightRecorder` into `configure`, and the recorder's counters into `stats`. Loaded with the core: it must stay cheap while
// nobody asks for a recorder.
import { addRoom } from '../collector/default-collector.js';
import { state } from '../local-span/process-state.js';
import { startLane } from './lane/lane.js';
import { FlightRecorder, type FlightRecorderStats } from './recorder.js';
import { type FlightRecorderOptions, resolveRecorder } from './recorder-options.js';

declare module '../collector/default-collector.js' {
  interface RoomOptions {
    /** Keep every span of the last minute in memory, whatever is sent; false switches it off. */
    readonly flightRecorder?: FlightRecorderOptions | false;
  }
  interface RoomStats {
    /** What the flight recorder holds and has refused; not there while it is off. */
    readonly flightRecorder?: FlightRecorderStats;
  }
}

/** The recorder of the default collector, whichever copy of the library has started it. */
export const flightRecorder = (): FlightRecorder | undefined => state.flightRecorder as FlightRecorder | undefined;

addRoom('flightRecorder', {
  prepare(option) {
    const wanted = option === false ? undefined : resolveRecorder(option as FlightRecorderOptions);
    return (collector) => {
      flightRecorder()?.stop();
      state.flightRecorder =
        wanted === undefined ? undefined : new FlightRecorder(collector, wanted, wanted.lane ? startLane() : undefined);
    };
  },
  stats: () => flightRecorder()?.stats(),
});
