// What the metrics suite measures: instruments of the core, which nothing exports, and a span that they name.
export { Span, SpanContext, setReporter } from '../../src/index.js';
export { Histogram } from '../../src/metrics/instruments.js';
export { LibraryMetrics } from '../../src/metrics/library-metrics.js';
export { Instruments } from '../../src/metrics/reader.js';
