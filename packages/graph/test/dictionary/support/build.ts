// Dictionaries of tests: built into a buffer, opened over a transport that counts.
import { BlockCache } from '../../../src/container/block-cache.js';
import type { Compression } from '../../../src/container/codec.js';
import { Container } from '../../../src/container/container.js';
import { BufferSink, ContainerWriter } from '../../../src/container/container-writer.js';
import { BufferTransport } from '../../../src/container/transport/file-transport.js';
import { Dictionary, type DictionaryOpenOptions } from '../../../src/dictionary/dictionary.js';
import {
  DictionaryBuilder,
  type DictionaryBuildStats,
  type DictionaryOptions,
} from '../../../src/dictionary/dictionary-builder.js';

export interface Built {
  readonly bytes: Buffer;
  readonly stats: DictionaryBuildStats;
}

/** A file with nothing but a dictionary; ordinals are the ranks where none are given. */
export const buildDictionary = (
  keys: readonly Uint8Array[],
  options: Partial<DictionaryOptions> & { readonly compression?: Compression } = {},
  ordinalsOf: (rank: number) => readonly number[] = (rank) => [rank],
): Built => {
  const sink = new BufferSink();
  const writer = new ContainerWriter(sink, options.compression);
  const builder = new DictionaryBuilder(writer, { graphs: 1, ...options });
  for (const [rank, key] of keys.entries()) builder.add(key, ordinalsOf(rank));
  const stats = builder.finish();
  writer.finish();
  return { bytes: sink.toBuffer(), stats };
};

export interface Opened {
  readonly dictionary: Dictionary;
  readonly transport: BufferTransport;
  readonly cache: BlockCache;
}

/** Opened as a reader does; the tail that is read first may be small, so that blocks are read for themselves. */
export const openDictionary = (
  bytes: Buffer,
  {
    tailBytes,
    cacheBytes,
    gapBytes,
    ...options
  }: DictionaryOpenOptions & { tailBytes?: number; cacheBytes?: number; gapBytes?: number } = {},
): Opened => {
  const transport = new BufferTransport(bytes, { gapBytes });
  const cache = new BlockCache(cacheBytes);
  const container = Container.openSync(transport, { tailBytes });
  return { dictionary: Dictionary.openSync(container, { cache, ...options }), transport, cache };
};

/** Bytes a key of blocks and index, as a file has them. */
export const bytesPerKey = (
  keys: Buffer[],
  options: Partial<DictionaryOptions>,
  ordinals: readonly number[],
): number => {
  const { stats } = buildDictionary(keys, options, (rank) => [ordinals[rank]]);
  return (stats.blockBytes + stats.indexBytes) / keys.length;
};
