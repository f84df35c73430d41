// What the tracedb suite measures, parts included that the package does not export: the bare engine and the forms of keys and values.
export { flush, setReporter } from '../../src/collector/default-collector.js';
export { Span } from '../../src/span/span.js';
export { SpanContext } from '../../src/span/span-context.js';
export { OrderedParamSet } from '../../src/tracedb/params/ordered-param-set.js';
export { tileLayout } from '../../src/tracedb/perf/keys.js';
export { PERF_SCHEMA, PerfStore } from '../../src/tracedb/perf/perf-store.js';
export { cellKey } from '../../src/tracedb/table/lmdb/cell-key.js';
export { openLmdbEnv } from '../../src/tracedb/table/lmdb/lmdb-env.js';
export { LmdbTable } from '../../src/tracedb/table/lmdb/lmdb-table.js';
export { openTable } from '../../src/tracedb/table/open-table.js';
export { TracedTable } from '../../src/tracedb/table/traced-table.js';
