// The entry `spanline/testing`: what tests of a traced program need. Nothing here is for programs that run.

export type { GoldShapes, KeptShape, ShapedTrace, ShapeStore, TraceShapeOptions } from './expect-trace-shape.js';
export { expectTraceShape } from './expect-trace-shape.js';
export type { ShapedSpan, ShapeNode, ShapeOptions, TraceShape } from './trace-shape.js';
export { drawShape, traceShape } from './trace-shape.js';
