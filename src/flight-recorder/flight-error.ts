// The one error class of the flight recorder.
import { SpanlineError } from '../base/errors.js';

export type FlightErrorCode =
  | 'ERR_SPANLINE_FLIGHT_OFF'
  | 'ERR_SPANLINE_FLIGHT_FILE'
  | 'ERR_SPANLINE_FLIGHT_FORMAT'
  | 'ERR_SPANLINE_FLIGHT_NOTHING'
  | 'ERR_SPANLINE_FLIGHT_ABORTED';

/** No recorder runs, a file cannot be written or read, is not a snapshot, there is nothing to recover, or the caller's signal ended the work. */
export class FlightError extends SpanlineError<FlightErrorCode> {
  override readonly name = 'FlightError';
}
