// Turns properties as recorded into a clean list: values of a permitted type, no key twice, undefined left out.
// Off the hot path, so that recording need not look at values.
import { Counter, count } from '../local-span/counters.js';
import { guarded, lazyProperties } from '../local-span/lazy.js';
import type { Properties, PropertyList, PropertyValue } from '../local-span/property.js';

const isScalar = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint';

// An array is copied: an encoder must find in it what was checked here.
export const cleanValue = (value: unknown): PropertyValue | undefined =>
  isScalar(value)
    ? (value as PropertyValue)
    : typeof value === 'object'
      ? guarded(() => uniformCopy(value))
      : undefined;

const uniformCopy = (value: unknown): PropertyValue | undefined => {
  // Throws for a revoked proxy.
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = [...value];
  const type = typeof items[0];
  return items.every((item) => isScalar(item) && typeof item === type) ? (items as PropertyValue) : undefined;
};

/** Properties that can be relied on; `list` is null when there are none. */
export interface CleanProperties {
  readonly list: PropertyList | null;
  /** How many were left out. */
  readonly dropped: number;
}

const NOTHING: CleanProperties = Object.freeze({ list: null, dropped: 0 });

/** What is not a property value is counted and left out. */
export const cleanList = (list: readonly unknown[] | null): CleanProperties => {
  if (list === null || list.length === 0) return NOTHING;
  let dropped = 0;
  const out: (string | PropertyValue)[] = [];
  for (let i = 0; i < list.length; i += 2) {
    const key = list[i];
    const given = list[i + 1];
    const value = typeof key === 'string' ? cleanValue(given) : undefined;
    if (typeof key !== 'string' || value === undefined) {
      if (given !== undefined) {
        count(Counter.propertiesInvalid);
        dropped++;
      }
      continue;
    }
    const at = indexOfKey(out, key);
    if (at < 0) out.push(key, value);
    else out[at + 1] = value;
  }
  return { list: out.length === 0 ? null : out, dropped };
};

const indexOfKey = (list: readonly unknown[], key: string): number => {
  for (let i = 0; i < list.length; i += 2) if (list[i] === key) return i;
  return -1;
};

/** The same for properties given as an object. */
export const cleanObject = (properties: Properties | undefined): CleanProperties => {
  if (properties === undefined || properties === null || typeof properties !== 'object') return NOTHING;
  const list: unknown[] = [];
  lazyProperties(properties, (key, value) => list.push(key, value));
  return cleanList(list);
};
