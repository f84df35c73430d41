// What the graph suite measures: graph files, the archive, and the traces of the archive's own tests.
export { Archive } from '../../packages/archive/src/archive.js';
export { Segment } from '../../packages/archive/src/segment/segment.js';
export { writeSegment } from '../../packages/archive/src/segment/write-segment.js';
export { syntheticSpans } from '../../packages/archive/test/segment/support/synthetic-spans.js';
export { CompactGraphBuilder } from '../../packages/graph/src/builder/graph-builder.js';
export { CompactGraph } from '../../packages/graph/src/compact-graph.js';
