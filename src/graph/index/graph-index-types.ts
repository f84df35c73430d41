// The interface that all graph indices have, whether they are a file, several, or a part of one. Types only.
import type { TransportReadOptions } from '../../container/transport/transport.js';
import type { TupleKey, TupleMap, TuplePrefix, TupleSet } from './tuple-key.js';

/** A node of an index. */
export interface IndexEntry {
  readonly key: TupleKey;
  readonly value: Uint8Array;
  /** One for each reference list. */
  readonly references: readonly (readonly TupleKey[])[];
}

/** A closure over references. */
export interface FoundAncestry {
  /** Every key that was reached and is here, with what it refers to. */
  readonly parentMap: TupleMap<readonly TupleKey[]>;
  /** Keys that were reached and are not here. */
  readonly missing: TupleSet;
}

/** What every index answers. Entries come in no order unless said otherwise. */
export interface ReadableIndex {
  /** Nodes of the index; for a combined one the sum of its children, of which some may have the same. */
  keyCount(): Promise<number>;
  /** The entries of those keys that are here. */
  iterEntries(keys: Iterable<TupleKey>, options?: TransportReadOptions): AsyncIterableIterator<IndexEntry>;
  iterAllEntries(options?: TransportReadOptions): AsyncIterableIterator<IndexEntry>;
  /** The entries whose keys begin with one of the prefixes, element by element. */
  iterEntriesPrefix(prefixes: Iterable<TuplePrefix>, options?: TransportReadOptions): AsyncIterableIterator<IndexEntry>;
  /**
   * One step of a search: the parents of `keys` by reference list `list` go into `parentMap`, keys that are not here into `missing`.
   * The result is what to ask next: parents in neither. Stop or go on as you like.
   */
  findAncestors(
    keys: Iterable<TupleKey>,
    list: number,
    parentMap: TupleMap<readonly TupleKey[]>,
    missing: TupleSet,
    options?: TransportReadOptions,
  ): Promise<TupleSet>;
  /** The whole closure. */
  findAncestry(keys: Iterable<TupleKey>, list: number, options?: TransportReadOptions): Promise<FoundAncestry>;
  /** Keys that reference list `list` refers to and that are not here. */
  externalReferences(list: number, options?: TransportReadOptions): Promise<TupleSet>;
  /** Reads everything and checks it; rejects with the first damage. */
  validate(options?: TransportReadOptions): Promise<void>;
  /** Forget decoded blocks. */
  clearCache(): void;
  close(): Promise<void>;
}
