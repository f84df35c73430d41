// Parses JSON text into a value and says where it is broken. It must never let an error of the engine out: its text differs
// between versions and quotes the file unescaped.
import { badFile } from './bad-file.js';
import { jsonErrorOffset } from './json-error-offset.js';

/** Where a text is broken, as `line 2, column 6`, both from 1. */
const placeOfError = (text: string): string => {
  const offset = jsonErrorOffset(text);
  if (offset === undefined) return 'it is too large for this engine';
  if (offset >= text.trimEnd().length) return 'it ends too early';
  let line = 1;
  let start = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++;
    start = at + 1;
  }
  return `line ${line}, column ${offset - start + 1}`;
};

/** The value of a JSON text; `at` names the file in the error. */
export const parseJson = (at: string, text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw badFile(at, '', `is not JSON: ${placeOfError(text)}`);
  }
};

/** Whether a JSON value is an object, and not an array. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
