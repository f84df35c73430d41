// Properties given as an object or as a callback that makes one. A callback or a getter that throws is counted, never passed
// on, and costs no more than its own property.
import { Counter, count } from './counters.js';
import type { Properties, PropertyValue } from './property.js';

/** Evaluate a callback given by the user; undefined and a count when it throws. */
export const guarded = <T>(callback: () => T): T | undefined => {
  try {
    return callback();
  } catch {
    count(Counter.callbackErrors);
    return undefined;
  }
};

const NO_KEYS: readonly string[] = [];

/** Feed each property to `add`; undefined values are left out. */
export const lazyProperties = (
  properties: Properties | (() => Properties),
  add: (key: string, value: PropertyValue) => void,
): void => {
  const made = typeof properties === 'function' ? guarded(properties) : properties;
  if (made === undefined || made === null) return;
  if (typeof made !== 'object') {
    count(Counter.propertiesInvalid);
    return;
  }
  for (const key of guarded(() => Object.keys(made)) ?? NO_KEYS) {
    let value: PropertyValue | undefined;
    try {
      value = made[key];
    } catch {
      count(Counter.callbackErrors);
    }
    if (value !== undefined) add(key, value);
  }
};
