// What the bucket suite measures, and what it makes its archive with.
export { Archive } from '../../packages/archive/src/archive.js';
export { makeCard } from '../../packages/archive/src/bucket/card.js';
export { decodePack, encodePack } from '../../packages/archive/src/bucket/card-pack.js';
export { Catalogue } from '../../packages/archive/src/bucket/catalogue.js';
export { openObjectStore } from '../../packages/archive/src/bucket/object-store.js';
export { TraceFilter } from '../../packages/archive/src/bucket/trace-filter.js';
export { segmentName } from '../../packages/archive/src/directory.js';
export { clusteredSegment } from '../../packages/archive/src/segment/cluster-segment.js';
export { writeSegment } from '../../packages/archive/src/segment/write-segment.js';
export { BufferSink } from '../../packages/graph/src/index.js';
