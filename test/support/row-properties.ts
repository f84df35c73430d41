// Properties of entries as a list, through the view that encoders read.

import { RowProperties } from '../../src/record/row-view.js';
import type { PropertyList, PropertyValue } from '../../src/rows/property.js';
import type { RowEntries } from '../../src/rows/row-entries.js';

/** Those that begin at entry `from` and end before `end`: key, value, key, value; null for none. */
export const propertyList = (entries: RowEntries, from: number, end: number): PropertyList | null => {
  const properties = new RowProperties();
  properties.of(entries, from, end);
  const list: (string | PropertyValue)[] = [];
  for (let i = 0; i < properties.size; i++) list.push(properties.key(i), properties.value(i));
  return list.length === 0 ? null : list;
};
