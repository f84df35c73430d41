// What the tracedb suite measures, parts included that the package does not export: the bare engine and the forms of keys and values.

export { OrderedParamSet } from '../../packages/tracedb/src/params/ordered-param-set.js';
export { tileLayout } from '../../packages/tracedb/src/perf/keys.js';
export { PERF_SCHEMA, PerfStore } from '../../packages/tracedb/src/perf/perf-store.js';
export { cellKey } from '../../packages/tracedb/src/table/lmdb/cell-key.js';
export { openLmdbEnv } from '../../packages/tracedb/src/table/lmdb/lmdb-env.js';
export { LmdbTable } from '../../packages/tracedb/src/table/lmdb/lmdb-table.js';
export { openTable } from '../../packages/tracedb/src/table/open-table.js';
export { flush, setReporter } from '../../src/collector/default-collector.js';
export { Span } from '../../src/span/span.js';
export { SpanContext } from '../../src/span/span-context.js';
