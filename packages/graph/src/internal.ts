// What sibling packages use of graph beyond its public names. Exports only what they in fact import.
export { BitReader, BitWriter } from './container/bits.js';
export { clusterFile } from './container/cluster-map.js';
export { Codec, checkForm, type Place, type Stored, type StoredForm } from './container/codec.js';
export { badOptions } from './container/graph-error.js';
export { sectionReader } from './container/layout.js';
export {
  ESCAPE,
  extraBits,
  MAX_CONTEXTS,
  NUMBER_SYMBOLS,
  putExtra,
  SymbolCounts,
  SymbolDecoder,
  SymbolEncoder,
  SymbolModel,
  symbolOf,
  takeNumber,
} from './container/symbol-coder.js';
export { ClusteredTransport } from './container/transport/clustered-transport.js';
export { parseContentRange } from './container/transport/http-transport.js';
export { openedFrom } from './container/transport/open-transport.js';
export { parseS3Location, s3Address } from './container/transport/s3-transport.js';
export { checkRanges, checkSignal, dealOut, emptyResults, mergeRanges } from './container/transport/transport.js';
export { buildWideFuse, type FuseShape, hashBytes, mayContain, slotsOf } from './dictionary/fuse-filter.js';
export { FilterBuilder, KeyFilter } from './dictionary/key-filter.js';
export { decodeMeta, encodeMeta } from './meta.js';
export { NodeColumns } from './nodes/node-columns.js';
export { type Adjacency, orderNodes } from './nodes/node-order.js';
export { columnPlace, decodeNodeTable, writeReferences } from './nodes/node-table.js';
