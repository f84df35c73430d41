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

const INDEX = /^(?:0|[1-9]\d{0,9})$/;

/** Whether an object lists the key before all others, in the order of numbers. */
const isIndex = (key: string): boolean => {
  const first = key.charCodeAt(0);
  return first >= 0x30 && first <= 0x39 && INDEX.test(key);
};

/**
 * Properties while they are read, which are listed in the order they came. An object lists keys such as "10" and "2" first and by number: where there
 * are any, what stands for the object says the order.
 */
export class PropertyDraft {
  readonly #properties: Record<string, ArchivedValue> = {};
  #order: string[] | undefined;

  has(key: string): boolean {
    return Object.hasOwn(this.#properties, key);
  }

  /** Set one; false when the key was there already. */
  set(key: string, value: ArchivedValue): boolean {
    if (this.#order === undefined && isIndex(key)) this.#order = Object.keys(this.#properties);
    const isNew = setNewProperty(this.#properties, key, value);
    if (isNew) this.#order?.push(key);
    return isNew;
  }

  /** All that were set. The draft must not be used any more. */
  done(): Record<string, ArchivedValue> {
    const properties = this.#properties;
    const order = this.#order;
    if (order === undefined || Object.keys(properties).every((key, i) => key === order[i])) return properties;
    return new Proxy(properties, { ownKeys: () => order });
  }
}

/** The property, if there is one of its own. */
export const propertyOf = (properties: ArchivedProperties, key: string): ArchivedValue | undefined =>
  Object.hasOwn(properties, key) ? properties[key] : undefined;
