// Puts the option `flightRecorder` into `configure`, and the recorder's counters into `stats`. Loaded with the core: it must stay a few lines,
// and loads the recorder itself when the option is first given.
import { createRequire } from 'node:module';
import { OptionError } from '../base/errors.js';
import { addFeature } from '../collector/default-collector.js';
import { state } from '../context/process-state.js';
import type { FlightRecorder, FlightRecorderStats } from './recorder.js';
import type { RecorderFeature } from './recorder-feature.js';
import type { FlightRecorderOptions } from './recorder-options.js';

declare module '../collector/default-collector.js' {
  interface FeatureOptions {
    /** Keep every span of the last minute in memory, whatever is sent; false switches it off. */
    readonly flightRecorder?: FlightRecorderOptions | false;
  }
  interface FeatureStats {
    /** What the flight recorder holds and has refused; not there while it is off. */
    readonly flightRecorder?: FlightRecorderStats;
  }
}

/** The recorder of the default collector, whichever copy of the library has started it. */
export const flightRecorder = (): FlightRecorder | undefined => state.flightRecorder as FlightRecorder | undefined;

/** As it stands beside the file that this becomes. */
const FEATURE = '../flight-recorder/recorder-feature.js';

// `configure` gives no promise, so that this cannot be an `import()`.
const load = (): RecorderFeature => {
  try {
    return (createRequire(import.meta.url)(FEATURE) as { recorderFeature: RecorderFeature }).recorderFeature;
  } catch (cause) {
    const remedy = "import 'spanline/flight-recorder' before configure, or leave spanline out of the bundle";
    throw new OptionError(
      `Option "flightRecorder": the file of the recorder is not found, as in a bundle: ${remedy}.`,
      {
        cause,
      },
    );
  }
};

let feature: RecorderFeature | undefined;

/** For a program that has loaded the recorder already. */
export const provideRecorder = (loaded: RecorderFeature): void => {
  feature = loaded;
};

addFeature('flightRecorder', {
  prepare(option) {
    if (option === false) {
      return () => {
        flightRecorder()?.stop();
        state.flightRecorder = undefined;
      };
    }
    feature ??= load();
    return feature.prepare(option as FlightRecorderOptions);
  },
  stats: () => flightRecorder()?.stats(),
});
