// What OpenTelemetry permits as an attribute, as our properties. What it does not permit is said to its `diag` and left out, not counted.
import type { Attributes, AttributeValue } from '@opentelemetry/api';
import { guarded, lazyProperties, nameText, type Properties, type PropertyValue } from '../rows/property.js';
import { diag } from './api-global.js';

const isScalar = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

// Elements that are missing are left out: an array of ours has values of one type only.
const uniform = (items: readonly unknown[]): PropertyValue | undefined => {
  const present = items.filter((item) => item !== null && item !== undefined);
  const type = typeof present[0];
  return present.every((item) => isScalar(item) && typeof item === type)
    ? (present as unknown as PropertyValue)
    : undefined;
};

const cut = (value: PropertyValue, max: number): PropertyValue => {
  if (typeof value === 'string') return value.length > max ? value.slice(0, max) : value;
  if (!Array.isArray(value)) return value;
  return value.map((item: unknown) =>
    typeof item === 'string' ? item.slice(0, max) : item,
  ) as unknown as PropertyValue;
};

const refuse = (key: string): undefined => {
  diag.warn(`Invalid attribute value set for key: ${key}`);
  return undefined;
};

/** The value as a property, texts cut to `max` characters; undefined for what is not an attribute. */
export const attributeValue = (
  key: string,
  value: AttributeValue | null | undefined,
  max: number,
): PropertyValue | undefined => {
  if (value === null || value === undefined) return undefined;
  if (typeof key !== 'string' || key.length === 0) {
    diag.warn(`Invalid attribute key: ${nameText(key)}`);
    return undefined;
  }
  let kept: PropertyValue | undefined;
  if (isScalar(value)) kept = value as PropertyValue;
  else kept = guarded(() => (Array.isArray(value) ? uniform(value) : undefined));
  if (kept === undefined) return refuse(key);
  return max === Number.POSITIVE_INFINITY ? kept : cut(kept, max);
};

/** What attributes of a provider's spans may be. */
export interface AttributeLimits {
  /** Characters of a text. */
  readonly text: number;
  /** Attributes of one event, and of one link. */
  readonly ofEvent: number;
  readonly ofLink: number;
}

/** As OpenTelemetry's specification has them. */
export const DEFAULT_LIMITS: AttributeLimits = { text: Number.POSITIVE_INFINITY, ofEvent: 128, ofLink: 128 };

/** The first `max` of them, and how many were left. */
export const firstProperties = (
  attributes: Attributes | undefined | null,
  text: number,
  max: number,
): { readonly properties: Properties | undefined; readonly dropped: number } => {
  const properties = attributesToProperties(attributes, text);
  const keys = properties === undefined ? 0 : Object.keys(properties).length;
  if (properties === undefined || keys <= max) return { properties, dropped: 0 };
  return { properties: Object.fromEntries(Object.entries(properties).slice(0, max)), dropped: keys - max };
};

/** Attributes of an event, a link or a resource; undefined when there are none. */
export const attributesToProperties = (
  attributes: Attributes | undefined | null,
  max = Number.POSITIVE_INFINITY,
): Properties | undefined => {
  if (typeof attributes !== 'object' || attributes === null) return undefined;
  const kept: Record<string, PropertyValue> = Object.create(null);
  let count = 0;
  lazyProperties(attributes as Properties, (key, value) => {
    const own = attributeValue(key, value as AttributeValue, max);
    if (own === undefined) return;
    kept[key] = own;
    count++;
  });
  return count === 0 ? undefined : kept;
};
