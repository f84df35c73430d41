// Whether what was given is a reporter: found out where it is set, not when the first trace is lost. Calls nothing of it.
import { OptionError } from './options.js';
import type { Reporter } from './reporter.js';

const describe = (value: unknown): string => {
  if (typeof value === 'function') return `the class or function ${value.name || 'without a name'}; make one with new`;
  return typeof value === 'object' && value !== null ? 'an object without them' : String(value);
};

/** Each reporter once. Throws {@link OptionError}. */
export const checkReporters = (given: readonly unknown[]): readonly Reporter[] => {
  for (const one of given) {
    const { name, report } = (typeof one === 'object' && one !== null ? one : {}) as Partial<Reporter>;
    if (typeof name === 'string' && typeof report === 'function') continue;
    throw new OptionError(`A reporter is an object with a name and a method report, not ${describe(one)}.`);
  }
  return [...new Set(given as readonly Reporter[])];
};
