// Names of queues, tables, topics and the like, as a program or a sender of messages gives them: as long as any is that a server takes, and no longer.
import type { PropertyValue } from '../rows/property.js';

const MAX_CHARACTERS = 255;

export const boundedName = (name: string): string =>
  name.length > MAX_CHARACTERS ? name.slice(0, MAX_CHARACTERS) : name;

/** Keys and values one after the other, of which texts are such names. */
export const boundedNames = (list: readonly (string | PropertyValue)[]): readonly (string | PropertyValue)[] =>
  list.map((one) => (typeof one === 'string' ? boundedName(one) : one));
