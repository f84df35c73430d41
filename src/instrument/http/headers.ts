// Headers that the program has asked for, as properties. None is read that was not named: headers carry credentials.
import type { PropertyValue } from '../../local-span/property.js';

/** Header name and property key, ready to be looked up. */
export type WantedHeaders = readonly (readonly [header: string, key: string])[];

/** The names in lower case, as Node has them. */
export const wantedHeaders = (side: 'request' | 'response', names: readonly string[] = []): WantedHeaders =>
  names.map((name) => [name.toLowerCase(), `http.${side}.header.${name.toLowerCase()}`]);

/** Calls `add` with each that is there, as the list of texts that the convention asks for. */
export const addHeaders = (
  wanted: WantedHeaders,
  read: (name: string) => unknown,
  add: (key: string, value: PropertyValue) => unknown,
): void => {
  for (const [name, key] of wanted) {
    const value = read(name);
    if (value !== undefined) add(key, (Array.isArray(value) ? value : [value]).map(String));
  }
};
