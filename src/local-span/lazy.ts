// Properties given as an object or as a callback that makes one. A callback that throws is counted, never passed on.
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

/** Feed each property to `add`; undefined values are left out. */
export const lazyProperties = (
  properties: Properties | (() => Properties),
  add: (key: string, value: PropertyValue) => void,
): void => {
  try {
    const made = typeof properties === 'function' ? properties() : properties;
    if (made === undefined || made === null || typeof made !== 'object') return;
    for (const key of Object.keys(made)) {
      const value = made[key];
      if (value !== undefined) add(key, value);
    }
  } catch {
    // The callback, or a getter of what it gave.
    count(Counter.callbackErrors);
  }
};
