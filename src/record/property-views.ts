// Properties as the finished span shows them: over a list (key, value, key, value) and over an object. A view is made once and pointed at one
// after another; it never copies a value.
import type { PropertyList } from '../rows/property.js';
import type { ArchivedProperties, ArchivedValue } from './archived-span.js';
import type { SpanProperties } from './finished-span.js';
import { propertyOf } from './properties.js';

/** Over the list of a record. */
export class ListProperties implements SpanProperties {
  private list: PropertyList | null = null;

  of(list: PropertyList | null): this {
    this.list = list;
    return this;
  }

  get size(): number {
    return this.list === null ? 0 : this.list.length >> 1;
  }

  key(index: number): string {
    return (this.list as PropertyList)[index * 2] as string;
  }

  value(index: number): ArchivedValue {
    return (this.list as PropertyList)[index * 2 + 1];
  }

  get(key: string): ArchivedValue | undefined {
    for (let i = 0; i < this.size; i++) if (this.key(i) === key) return this.value(i);
    return undefined;
  }
}

/** Over an object with properties of its own; one that is undefined is none. */
export class ObjectProperties implements SpanProperties {
  private properties: ArchivedProperties = {};
  private keys: readonly string[] = [];

  of(properties: Readonly<Record<string, ArchivedValue | undefined>>): this {
    this.properties = properties as ArchivedProperties;
    this.keys = Object.keys(properties);
    if (this.keys.some((key) => properties[key] === undefined))
      this.keys = this.keys.filter((key) => properties[key] !== undefined);
    return this;
  }

  get size(): number {
    return this.keys.length;
  }

  key(index: number): string {
    return this.keys[index];
  }

  value(index: number): ArchivedValue {
    return this.properties[this.keys[index]];
  }

  get(key: string): ArchivedValue | undefined {
    return propertyOf(this.properties, key);
  }
}
