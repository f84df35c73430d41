// Writes a graph index file: one graph, tuple keys. Cycles are allowed, since an index says what refers to what and judges nothing.

import { wholeNumber } from 'spanline/internal/base';
import { type BuildStats, CompactGraphBuilder } from '../builder/graph-builder.js';
import type { ByteSink } from '../container/byte-sink.js';
import { BadValueError, badOptions } from '../container/graph-error.js';
import { MAX_REFERENCE_LISTS } from '../meta.js';
import { KEY_ELEMENTS_NOTE } from './graph-index.js';
import type { IndexEntry } from './readable-index.js';
import { checkElements, encodeTuple, type TupleKey } from './tuple-key.js';

/** What an index is built with. */
export interface GraphIndexBuilderOptions {
  /** Reference lists of every node, 0 to 16. Default 0. */
  readonly referenceLists?: number;
  /** Elements of every key, 1 to 16. Default 1. */
  readonly keyElements?: number;
  /** Memory of the builder before it spills to disk. Default 256 MiB. */
  readonly memoryBytes?: number;
}

/**
 * Builds a graph index; use it like bzr's GraphIndexBuilder. Nodes may come in any order; what they refer to need not exist.
 *
 * @example
 * ```ts
 * import { BufferSink, GraphIndexBuilder } from '@spanline/graph';
 * const builder = new GraphIndexBuilder(new BufferSink(), { referenceLists: 1 });
 * builder.addNode(['a'], Buffer.from('value'), [[['ghost']]]);
 * await builder.finish();
 * ```
 */
export class GraphIndexBuilder {
  readonly #builder: CompactGraphBuilder;
  readonly referenceLists: number;
  readonly keyElements: number;

  constructor(
    target: string | ByteSink,
    { referenceLists = 0, keyElements = 1, memoryBytes }: GraphIndexBuilderOptions = {},
  ) {
    wholeNumber('referenceLists', referenceLists, [0, MAX_REFERENCE_LISTS], badOptions);
    checkElements(keyElements);
    this.referenceLists = referenceLists;
    this.keyElements = keyElements;
    this.#builder = new CompactGraphBuilder(target, {
      graphs: [{ referenceLists, order: 'child-first', cycles: 'allow' }],
      notes: { [KEY_ELEMENTS_NOTE]: String(keyElements) },
      memoryBytes,
    });
  }

  /** Add one node. Throws `BadKeyError`, `BadValueError`; a key added twice is a `DuplicateKeyError` here or at `finish`. */
  addNode(key: TupleKey, value: Uint8Array, references: readonly (readonly TupleKey[])[] = []): void {
    const encoded = encodeTuple(key, this.keyElements);
    if (!Array.isArray(references) || references.length !== this.referenceLists) {
      const lists = Array.isArray(references) ? references.length : 'no';
      throw new BadValueError(
        `key ${JSON.stringify(key)} has ${lists} reference lists; this index has ${this.referenceLists}`,
      );
    }
    if (!references.every(Array.isArray))
      throw new BadValueError(`a reference list of key ${JSON.stringify(key)} must be an array`);
    this.#builder.add(
      0,
      encoded,
      value,
      references.map((list) => list.map((target) => encodeTuple(target, this.keyElements))),
    );
  }

  /** Add many; the first that is refused throws, those before it stay added. */
  addNodes(entries: Iterable<IndexEntry>): void {
    for (const { key, value, references } of entries) this.addNode(key, value, references);
  }

  finish(): Promise<BuildStats> {
    return this.#builder.finish();
  }

  abort(): void {
    this.#builder.abort();
  }
}
