// What values of properties hold, by estimate, for the bounds in bytes: without their texts a few spans could hold
// gigabytes. Values may be anything where types do not reach; nothing here may throw.
import type { Properties } from './property.js';

const BYTES_PER_ITEM = 8;
/** A key and a reference to a value, with their share of the list they are in. */
export const BYTES_PER_PROPERTY = 48;

const bytesOfArray = (items: unknown): number => {
  // Throws for a revoked proxy.
  if (!Array.isArray(items)) return 0;
  let bytes = items.length * BYTES_PER_ITEM;
  if (typeof items[0] === 'string') for (const item of items) if (typeof item === 'string') bytes += item.length;
  return bytes;
};

/** A text or an array; other values are in the reference itself, or as good as. */
export const bytesOfValue = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' && value !== null ? estimate(() => bytesOfArray(value)) : 0;
};

/** The properties of an event or a link. */
export const bytesOfProperties = (properties: Properties | undefined | null): number => {
  if (typeof properties !== 'object' || properties === null) return 0;
  return estimate(() => {
    let bytes = 0;
    for (const key of Object.keys(properties)) {
      bytes += BYTES_PER_PROPERTY + estimate(() => bytesOfValue(properties[key]));
    }
    return bytes;
  });
};

// What throws is counted where the record is made.
const estimate = (bytes: () => number): number => {
  try {
    return bytes();
  } catch {
    return 0;
  }
};
