// Properties made from keys and values of anywhere. A key may be any text: none may reach a prototype.
import type { ArchivedProperties, ArchivedValue } from './archived-span.js';
import { setOwn } from './record.js';

/** No properties, shared by all that have none. */
export const NO_PROPERTIES: ArchivedProperties = Object.freeze({});

/** Set one; false when the key was there already. */
export const setNewProperty = (
  properties: Record<string, ArchivedValue>,
  key: string,
  value: ArchivedValue,
): boolean => {
  const isNew = !Object.hasOwn(properties, key);
  setOwn(properties, key, value);
  return isNew;
};

/** The property, if there is one of its own. */
export const propertyOf = (properties: ArchivedProperties, key: string): ArchivedValue | undefined =>
  Object.hasOwn(properties, key) ? properties[key] : undefined;
