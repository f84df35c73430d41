// The entry `spanline/testing`: what tests of a traced program need. Nothing here is for programs that run.
export type { ShapedSpan, ShapeNode, ShapeOptions, TraceShape } from '../record/trace-shape.js';
export { drawShape, traceShape } from '../record/trace-shape.js';
export type { GoldShapes, KeptShape, ShapedTrace, ShapeStore, TraceShapeOptions } from './expect-trace-shape.js';
export { expectTraceShape } from './expect-trace-shape.js';
