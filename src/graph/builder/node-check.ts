// What `add` refuses. All of it is checked before a byte is kept: a node that is refused must leave no trace.

import { BadValueError } from '../../container/graph-error.js';
import { checkKey, shownKey } from '../dictionary/key-bytes.js';
import { MAX_DEGREE } from '../nodes/reference-block.js';
import type { GraphOptions } from './builder-options.js';

/** Bytes of a value at most. */
export const MAX_VALUE_BYTES = 16 * 1024 * 1024;

const NONE = new Uint8Array(0);

/** The value to keep for a node of `graph`; empty where the graph keeps none. Throws `BadKeyError` or `BadValueError`. */
export const checkNode = (
  graph: Required<GraphOptions>,
  key: Uint8Array,
  value: Uint8Array | undefined,
  references: readonly (readonly Uint8Array[])[],
): Uint8Array => {
  checkKey(key);
  const bytes = value ?? NONE;
  if (!(bytes instanceof Uint8Array))
    throw new BadValueError(`the value of ${shownKey(key)} is a Uint8Array or Buffer, not ${typeof value}`);
  if (!graph.values && bytes.length > 0)
    throw new BadValueError(`${shownKey(key)} has a value, and its graph was opened with values: false`);
  if (bytes.length > MAX_VALUE_BYTES) {
    throw new BadValueError(
      `the value of ${shownKey(key)} has ${bytes.length} bytes, more than the ${MAX_VALUE_BYTES} a node can keep`,
    );
  }
  if (!Array.isArray(references) || references.length !== graph.referenceLists) {
    throw new BadValueError(
      `${shownKey(key)} has ${Array.isArray(references) ? references.length : 'no'} reference lists, its graph ${graph.referenceLists}`,
    );
  }
  for (const list of references) {
    if (!Array.isArray(list)) throw new BadValueError(`a reference list of ${shownKey(key)} is no list`);
    if (list.length > MAX_DEGREE) throw new BadValueError(`${shownKey(key)} has more than ${MAX_DEGREE} references`);
    for (const reference of list) checkKey(reference);
  }
  return bytes;
};
