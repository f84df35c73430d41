// What spanline aims at, on a machine where RDTSC costs 9.5 ns. Shown beside what was measured in docs/benchmarks.md;
// never used to fail anything, because absolute times hold for one machine only.

/**
 * `figure` names a field of a result; `nodes` limits a target to these lines. `peer`: the figure is spanline's in percent of that
 * subject's.
 */
export const TARGETS = [
  { suite: 'recording', name: 'local-span', n: 100, figure: 'median', atMost: 45, nodes: [24] },
  { suite: 'recording', name: 'local-span', n: 100, figure: 'median', atMost: 60, nodes: [20] },
  { suite: 'recording', name: 'local-span', n: 100, figure: 'totalMedian', atMost: 75 },
  { suite: 'recording', name: 'local-span-unsampled', n: 100, figure: 'median', atMost: 10 },
  { suite: 'recording', name: 'no-parent', n: 100, figure: 'median', atMost: 10 },
  { suite: 'recording', name: 'disabled', n: 100, figure: 'median', atMost: 2 },
  { suite: 'recording', name: 'event', n: 100, figure: 'median', atMost: 20 },
  { suite: 'recording', name: 'local-span-1-property', n: 100, figure: 'median', atMost: 90 },
  { suite: 'recording', name: 'span', n: 100, figure: 'median', atMost: 150 },
  { suite: 'recording', name: 'span', n: 100, figure: 'totalMedian', atMost: 350 },
  { suite: 'recording', name: 'async-span', n: 100, figure: 'median', atMost: 600, nodes: [24] },
  { suite: 'recording', name: 'root-1', n: 1, figure: 'totalMedian', atMost: 400 },
  { suite: 'recording', name: 'retained-bytes', n: 100, figure: 'median', atMost: 100 },
  { suite: 'exporters', name: 'otlp-protobuf', n: 512, figure: 'median', atMost: 900 },
  { suite: 'exporters', name: 'jaeger-thrift', n: 512, figure: 'median', atMost: 1500 },
  { suite: 'exporters', name: 'stall-50000', n: 50_000, figure: 'median', atMost: 10 },
  { suite: 'clock', name: 'import', n: 1, figure: 'median', atMost: 10 },
  { suite: 'clock', name: 'first-span', n: 1, figure: 'median', atMost: 5 },
  { suite: 'tracedb', name: 'ingest', n: 'new', figure: 'median', peer: 'bare-lmdb', atLeast: 50 },
  { suite: 'tracedb', name: 'ingest', n: 'known', figure: 'median', peer: 'bare-lmdb', atLeast: 50 },
  { suite: 'tracedb', name: 'query-1', n: 1_000_000, figure: 'median', peer: 'bare-lmdb', atLeast: 50 },
  { suite: 'tracedb', name: 'query-3', n: 1_000_000, figure: 'median', peer: 'bare-lmdb', atLeast: 50 },
  { suite: 'tracedb', name: 'query-8', n: 1_000_000, figure: 'median', peer: 'bare-lmdb', atLeast: 50 },
  { suite: 'tracedb', name: 'query-3', n: 1_000_000, figure: 'median', peer: 'sqlite', atLeast: 100 },
  { suite: 'tracedb', name: 'query-3-rare', n: 1_000_000, figure: 'median', peer: 'sqlite', atLeast: 100 },
  { suite: 'tracedb', name: 'query-8', n: 1_000_000, figure: 'median', peer: 'sqlite', atLeast: 100 },
  { suite: 'tracedb', name: 'query-peak-memory', n: 'leaf', figure: 'max', atMost: 200 },
  { suite: 'tracedb', name: 'query-peak-memory', n: 'union', figure: 'max', atMost: 200 },
  { suite: 'tracedb', name: 'query-peak-memory', n: 'intersection', figure: 'max', atMost: 200 },
  { suite: 'tracedb', name: 'query-untraced-overhead', n: 'query-1', figure: 'median', atMost: 2 },
  { suite: 'tracedb', name: 'query-untraced-overhead', n: 'query-3', figure: 'median', atMost: 2 },
  { suite: 'tracedb', name: 'query-untraced-overhead', n: 'query-8', figure: 'median', atMost: 2 },
  { suite: 'tracedb', name: 'query-traced-overhead', n: 'query-1', figure: 'median', atMost: 5 },
  { suite: 'tracedb', name: 'query-traced-overhead', n: 'query-3', figure: 'median', atMost: 5 },
  { suite: 'tracedb', name: 'query-traced-overhead', n: 'query-8', figure: 'median', atMost: 5 },
  { suite: 'tracedb', name: 'bigtable-write-cpu', n: 10_000, figure: 'median', peer: 'bare-bigtable', atMost: 130 },
  { suite: 'tracedb', name: 'bigtable-scan-cpu', n: 10_000, figure: 'median', peer: 'bare-bigtable', atMost: 130 },
];
