// What a service says of itself to Prometheus, as far as Live shows it: how many requests, calls and spans of each name there were, how many failed, and how
// long they took, by bucket. The text may be of any length a service likes to send, and of any names: what is kept of it is bounded.

/** Histograms that are shown, and what one says of their sets: a word for what they count, and the name of a set. */
const FAMILIES: Readonly<Record<string, readonly [what: string, name: (labels: Labels) => string]>> = {
  http_server_request_duration_seconds: ['answered', (of) => words(of.http_request_method, of.http_route)],
  rpc_server_call_duration_seconds: ['answered', (of) => words(of.rpc_method)],
  messaging_process_duration_seconds: ['processed', (of) => words(of.messaging_destination_name)],
  http_client_request_duration_seconds: ['asked', (of) => words(of.http_request_method, placeOf(of))],
  rpc_client_call_duration_seconds: ['asked', (of) => words(of.rpc_method, placeOf(of))],
  db_client_operation_duration_seconds: [
    'asked',
    (of) => words(of.db_system_name, of.db_query_summary ?? words(of.db_operation_name, of.db_collection_name)),
  ],
  messaging_client_operation_duration_seconds: [
    'sent',
    (of) => words(of.messaging_operation_name, of.messaging_destination_name),
  ],
  spanline_recorded_span_duration_seconds: [
    'recorded',
    ({ span_name: name, error_type: _, ...of }) =>
      words(name, ...Object.entries(of).map(([key, value]) => `${key}=${value}`)),
  ],
};

type Labels = Readonly<Record<string, string | undefined>>;

const words = (...parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined && part !== '').join(' ');

const placeOf = ({ server_address: address, server_port: port }: Labels): string | undefined =>
  address === undefined || port === undefined ? address : `${address}:${port}`;

/** Rows of one service; what has no place is counted in one row of its kind. */
const MAX_ROWS = 200;
const FURTHER = 'others';

/** All of one name since the service began to count. */
export interface Totals {
  readonly what: string;
  readonly name: string;
  /** Seconds; the last bucket has none. */
  readonly boundaries: readonly number[];
  /** How many there were in each bucket. */
  readonly buckets: Float64Array;
  failed: number;
}

/** What a service has said at one moment. */
export interface MetricsText {
  readonly service: string;
  /** By what and name. */
  readonly rows: ReadonlyMap<string, Totals>;
}

/** Behind a value there may be an exemplar, with labels of its own. */
const LINE = /^([a-zA-Z_:][\w:]*)(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})? (\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' };

const labelsIn = (text: string): Labels => {
  const labels: Record<string, string> = Object.create(null);
  for (const [, name, value] of text.matchAll(LABEL)) {
    labels[name] = value.replace(/\\(.)/g, (all, one: string) => ESCAPES[one] ?? all);
  }
  return labels;
};

/** One set: its buckets as they come, each with those before it. */
interface Series {
  readonly family: string;
  readonly labels: Labels;
  readonly boundaries: number[];
  readonly cumulative: number[];
}

/** Buckets of a set stand one behind the other. */
const seriesIn = function* (lines: readonly (readonly [family: string, labels: Labels, value: number])[]) {
  let series: Series | undefined;
  for (const [family, { le, ...labels }, value] of lines) {
    series ??= { family, labels, boundaries: [], cumulative: [] };
    series.cumulative.push(value);
    if (le !== '+Inf') series.boundaries.push(Number(le));
    else {
      yield series;
      series = undefined;
    }
  }
};

const addTo = (rows: Map<string, Totals>, { family, labels, boundaries, cumulative }: Series): void => {
  const [what, nameOf] = FAMILIES[family];
  const isKnown = labels.otel_metric_overflow === undefined;
  const own = isKnown ? nameOf(labels) : FURTHER;
  const name = rows.size < MAX_ROWS || rows.has(`${what} ${own}`) ? own : FURTHER;
  // A row has one way to divide time.
  const key = `${what} ${name}${name === FURTHER ? ` ${boundaries.length}` : ''}`;
  let row = rows.get(key);
  if (row === undefined) {
    row = { what, name, boundaries, buckets: new Float64Array(cumulative.length), failed: 0 };
    rows.set(key, row);
  }
  if (row.buckets.length !== cumulative.length) return;
  for (let i = 0; i < cumulative.length; i++) row.buckets[i] += cumulative[i] - (cumulative[i - 1] ?? 0);
  if (labels.error_type !== undefined) row.failed += cumulative[cumulative.length - 1];
};

const BUCKET = '_bucket';

/** Reads Prometheus' text format, of either version; lines that it does not know are nothing to it. */
export const readMetricsText = (text: string): MetricsText => {
  let service = '';
  const lines: (readonly [family: string, labels: Labels, value: number])[] = [];
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === 'target_info') service = labelsIn(labels).service_name ?? '';
    if (name === undefined || !name.endsWith(BUCKET)) continue;
    const family = name.slice(0, -BUCKET.length);
    if (Object.hasOwn(FAMILIES, family)) lines.push([family, labelsIn(labels), Number(value)]);
  }
  const rows = new Map<string, Totals>();
  for (const series of seriesIn(lines)) addTo(rows, series);
  return { service, rows };
};
