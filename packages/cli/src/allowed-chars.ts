// The option that says how params are cleaned on their way into a store.

import { type CleaningRule, cleaningRule } from '@spanline/tracedb';
import { type Command, InvalidArgumentError } from 'commander';

/** The inside of a character class, as a rule that cleans params. */
const allowedChars = (text: string): CleaningRule => {
  try {
    return cleaningRule(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
};

/** Give a command the option that says how params are cleaned. */
export const withAllowedChars = (command: Command): Command =>
  command.option(
    '--allowed-chars <class>',
    'characters params may have, such as "A-Za-z0-9._/-"; others become "_" (default: as the store was made)',
    allowedChars,
  );
