// The one error for an option that is wrong in the core, its exporters and what decorates functions.
import { SpanlineError } from './spanline-error.js';

/** A wrong option, named. */
export class OptionError extends SpanlineError<'ERR_SPANLINE_OPTION'> {
  override readonly name = 'OptionError';

  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SPANLINE_OPTION', message, options);
  }
}

/** The error for a sentence without its full stop, as the checks of options make them. */
export const wrongOption = (message: string): OptionError => new OptionError(`${message}.`);
