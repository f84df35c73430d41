// The entry `@spanline/graph`: every public name of compact graph files, and nothing else. Importing it must load no optional package.

export { type GraphBuilderOptions, type GraphOptions, MAX_VALUE_BYTES } from './builder/builder-options.js';
export { type BuildStats, CompactGraphBuilder } from './builder/graph-builder.js';
export { type MergeOptions, mergeGraphs } from './builder/merge-graphs.js';
export { CompactGraph, type CompactGraphStats, type OpenGraphOptions } from './compact-graph.js';
export { BlockCache, type BlockCacheStats } from './container/block-cache.js';
export { type Compression, DEFAULT_MAX_INFLATED_BYTES } from './container/codec.js';
export { type BlockRef, Container, type ContainerOptions } from './container/container.js';
export {
  AtomicFileSink,
  BufferSink,
  type ByteSink,
  ContainerWriter,
  type SectionName,
  type WrittenBlock,
} from './container/container-writer.js';
export {
  AbortedError,
  BadKeyError,
  BadOptionsError,
  BadSignatureError,
  BadValueError,
  ChangedError,
  ClosedError,
  CorruptError,
  CycleError,
  DuplicateKeyError,
  GraphError,
  type GraphErrorCode,
  LimitError,
  NotFoundError,
  TransportError,
  TruncatedError,
  UnsupportedVersionError,
} from './container/graph-error.js';
export { FORMAT_VERSION, NO_GRAPH, type SectionEntry, SectionId, sectionName } from './container/layout.js';
export {
  BufferTransport,
  type BufferTransportOptions,
  FileTransport,
  type FileTransportOptions,
} from './container/transport/file-transport.js';
export { HttpTransport, type HttpTransportOptions } from './container/transport/http-transport.js';
export { type OpenTransportOptions, openTransport } from './container/transport/open-transport.js';
export { S3Transport, type S3TransportOptions } from './container/transport/s3-transport.js';
export type {
  ByteRange,
  SyncTransport,
  Tail,
  Transport,
  TransportReadOptions,
  TransportStats,
} from './container/transport/transport.js';
export {
  DEFAULT_MAX_ALL_KEYS_BYTES,
  Dictionary,
  type DictionaryOpenOptions,
  type RangeQuery,
} from './dictionary/dictionary.js';
export {
  DictionaryBuilder,
  type DictionaryBuildStats,
  type DictionaryOptions,
} from './dictionary/dictionary-builder.js';
export type { DictionaryEntry } from './dictionary/dictionary-queries.js';
export type { KeyCodec } from './dictionary/key-block.js';
export { compareKeys, type KeyRange, type KeyTable, MAX_KEY_BYTES } from './dictionary/key-bytes.js';
export type { Ancestry, GraphNode, GraphView, NodeParts } from './graph-view.js';
export { CombinedGraphIndex, type CombinedGraphIndexOptions } from './index/combined-graph-index.js';
export { GraphIndex, GraphIndexBuilder, type GraphIndexBuilderOptions } from './index/graph-index.js';
export { PrefixAdapter } from './index/prefix-adapter.js';
export type { FoundAncestry, IndexEntry, ReadableIndex } from './index/readable-index.js';
export { type TupleKey, TupleMap, type TuplePrefix, TupleSet } from './index/tuple-key.js';
export { type GraphInfo, type GraphMeta, MAX_GRAPHS, MAX_ORDINALS, MAX_REFERENCE_LISTS } from './meta.js';
export { MAX_DEGREE, type ReferenceRows } from './nodes/node-blocks.js';
export type { OrderKind } from './nodes/node-order.js';
export { NODES_PER_BLOCK } from './nodes/node-table.js';
export type { Damage, LostKeys } from './salvage/damaged-file.js';
export {
  type LostNodes,
  type LostPart,
  type SalvagedGraph,
  type SalvageOptions,
  type SalvageReport,
  salvage,
} from './salvage.js';
