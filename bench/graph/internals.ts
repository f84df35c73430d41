// What the graph suite measures: graph files, the archive, and the traces of the archive's own tests.
export { Archive } from '../../src/archive/archive.js';
export { Segment } from '../../src/archive/segment/segment.js';
export { writeSegment } from '../../src/archive/segment/write-segment.js';
export { CompactGraphBuilder } from '../../src/graph/builder/graph-builder.js';
export { CompactGraph } from '../../src/graph/compact-graph.js';
export { syntheticSpans } from '../../test/archive/segment/support/synthetic-spans.js';
