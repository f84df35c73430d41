// Headers that the program has asked for, as properties. None is read that was not named: headers carry credentials.
import type { Span } from '../../span/span.js';

/** Header name and property key, ready to be looked up. */
export type WantedHeaders = readonly (readonly [header: string, key: string])[];

/** The names in lower case, as Node has them. */
export const wantedHeaders = (side: 'request' | 'response', names: readonly string[] = []): WantedHeaders =>
  names.map((name) => [name.toLowerCase(), `http.${side}.header.${name.toLowerCase()}`]);

/** Add a header that is there, as the list of texts that the convention asks for. */
export const addHeader = (span: Span, key: string, value: unknown): void => {
  if (value !== undefined) span.addProperty(key, (Array.isArray(value) ? value : [value]).map(String));
};
