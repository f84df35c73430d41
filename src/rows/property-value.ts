// What of a value is kept as a property: scalars as they are, arrays as copies made at the call, so that a program may go on
// changing its own. Nothing here may throw.
import { guarded, lazyProperties } from './lazy.js';
import type { Properties, PropertyList, PropertyValue } from './property.js';

/** A permitted value that is no array. */
export const isScalar = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint';

/** A permitted value, an array copied; undefined for any other. */
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

/** The value as a span keeps it until its end. What is not permitted is counted there: an object becomes null, so that it is dropped. */
export const keptValue = (value: PropertyValue): PropertyValue =>
  typeof value === 'object' ? (cleanValue(value) ?? (null as unknown as PropertyValue)) : value;

/** Properties of an event or a link as they are now: key, value, key, value. */
export const keptProperties = (properties: Properties | (() => Properties) | undefined): PropertyList | null => {
  if (properties === undefined || properties === null) return null;
  const list: (string | PropertyValue)[] = [];
  lazyProperties(properties, (key, value) => list.push(key, keptValue(value)));
  return list.length === 0 ? null : list;
};
