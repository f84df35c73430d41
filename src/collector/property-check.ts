// Turns properties as recorded into a clean list: values of a permitted type, no key twice, undefined left out.
// Off the hot path, so that recording need not look at values.
import { Counter, count } from '../local-span/counters.js';
import { guarded } from '../local-span/lazy.js';
import type { Properties, PropertyList, PropertyValue } from '../local-span/property.js';

const isScalar = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint';

const isPropertyValue = (value: unknown): value is PropertyValue => {
  if (!Array.isArray(value)) return isScalar(value);
  return guarded(() => isUniform(value)) ?? false;
};

const isUniform = (items: readonly unknown[]): boolean => {
  const type = typeof items[0];
  // Not `every`, which does not look at holes.
  for (const item of items) if (!isScalar(item) || typeof item !== type) return false;
  return true;
};

/** Null when nothing is left. What is not a property value is counted and left out. */
export const cleanList = (list: readonly unknown[] | null): PropertyList | null => {
  if (list === null || list.length === 0) return null;
  const out: (string | PropertyValue)[] = [];
  for (let i = 0; i < list.length; i += 2) {
    const key = list[i];
    const value = list[i + 1];
    if (typeof key !== 'string' || !isPropertyValue(value)) {
      if (value !== undefined) count(Counter.propertiesInvalid);
      continue;
    }
    const at = indexOfKey(out, key);
    if (at < 0) out.push(key, value);
    else out[at + 1] = value;
  }
  return out.length === 0 ? null : out;
};

const indexOfKey = (list: readonly unknown[], key: string): number => {
  for (let i = 0; i < list.length; i += 2) if (list[i] === key) return i;
  return -1;
};

/** The same for properties given as an object. */
export const cleanObject = (properties: Properties | undefined): PropertyList | null => {
  if (properties === undefined || properties === null || typeof properties !== 'object') return null;
  const list: unknown[] = [];
  // One at a time, so that a getter that throws costs its own property only.
  for (const key of Object.keys(properties)) {
    list.push(
      key,
      guarded(() => properties[key]),
    );
  }
  return cleanList(list);
};
