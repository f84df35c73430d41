// What a benchmark printed or wrote, as figures, whichever tool it was. A format must recognise its output by its form alone: programs are renamed
// and wrapped. It must never guess: output of no known form is an error that lists the forms, and two figures of one name are one too. What failed
// must never count as quick, and a name must never contain what differs from one run to the next, such as a port or the path of a checkout.
import { attempt } from 'spanline/internal/base';
import { either, integer, list, number, object, oneOf, type Shape, type Shaped, text } from '../ingest/shape.js';
import { type BenchFigure, badOutput, figureOf } from './figure.js';

/** The figures of a document of a benchmark tool; undefined for one of another. Throws where it is of this tool and says that it failed. */
type BenchFormat = (document: unknown) => readonly BenchFigure[] | undefined;

/** The document, where it has the shape. */
const read = <T>(shape: Shape<T>, document: unknown): T | undefined =>
  shape(document, false).length === 0 ? (document as T) : undefined;

const SPANLINE_FIGURE = either(number(), oneOf(null));

const SPANLINE_ROW = object(
  { subject: text(1), name: text(1), unit: text(1), median: SPANLINE_FIGURE },
  { n: either(number(), text()), totalMedian: SPANLINE_FIGURE, samples: list(number()), node: text() },
);
const SPANLINE_OUTPUT = object({ suite: text(1), results: list(SPANLINE_ROW) }, {});

const ofSpanlineRow = (
  suite: string,
  { subject, name, n, unit, median, totalMedian, samples, node }: Shaped<typeof SPANLINE_ROW>,
  isOfSeveralNodes: boolean,
): readonly BenchFigure[] => {
  const line = isOfSeveralNodes && node !== undefined ? [`node-${node.replace(/^v/, '').split('.')[0]}`] : [];
  const words = [...(subject === 'spanline' ? [] : [subject]), name, ...(n === undefined ? [] : [n]), ...line];
  const bench = `${suite}/${words.join(' ')}`;
  // Caller time, and CPU of all threads.
  const own = typeof median === 'number' ? [figureOf({ bench, metric: 'caller', unit }, median, samples)] : [];
  if (typeof totalMedian !== 'number') return own;
  return [...own, figureOf({ bench, metric: 'cpu', unit }, totalMedian)];
};

const spanline: BenchFormat = (document) => {
  const output = read(SPANLINE_OUTPUT, document);
  if (output === undefined) return undefined;
  const { suite, results } = output;
  // One run by several lines of Node: their figures must not share a name either.
  const isOfSeveralNodes = new Set(results.map(({ node }) => node)).size > 1;
  return results.flatMap((row) => ofSpanlineRow(suite, row, isOfSeveralNodes));
};

const AUTOCANNON_RESULT = object(
  {
    requests: object({ average: number() }, {}),
    latency: object({ p50: number(), p99: number() }, {}),
    errors: number(),
    timeouts: number(),
    non2xx: number(),
  },
  { url: text(), title: text() },
);

const pathOf = (url: string): string => {
  if (!URL.canParse(url)) return url;
  const { pathname, search } = new URL(url);
  return pathname + search;
};

const autocannon: BenchFormat = (document) => {
  const result = read(AUTOCANNON_RESULT, document);
  if (result === undefined) return undefined;
  const { title, url = '', requests, latency, errors, timeouts, non2xx } = result;
  const bench = title || pathOf(url) || '/';
  // A service that refuses is quick.
  if (errors + timeouts + non2xx > 0) {
    throw badOutput(
      `autocannon: ${bench} had ${errors} errors, ${timeouts} timeouts and ${non2xx} answers other than 2xx`,
    );
  }
  return [
    figureOf({ bench, metric: 'throughput', unit: 'req/s' }, requests.average),
    figureOf({ bench, metric: 'latency-p50', unit: 'ms' }, latency.p50),
    figureOf({ bench, metric: 'latency-p99', unit: 'ms' }, latency.p99),
  ];
};

/** One that failed has no figures; those that did not have a median, and older ones a mean. */
const VITEST_BENCHMARK = object({ name: text(1) }, {}) as Shape<{
  readonly name: string;
  readonly median?: number;
  readonly mean?: number;
  readonly samples?: readonly number[];
}>;
const VITEST_GROUP = object({ fullName: text(), benchmarks: list(VITEST_BENCHMARK) }, {});
const VITEST_REPORT = object({ files: list(object({ groups: list(VITEST_GROUP) }, { filepath: text() })) }, {});

const vitest: BenchFormat = (document) => {
  const groups = read(VITEST_REPORT, document)?.files.flatMap((file) => file.groups);
  return groups?.flatMap(({ fullName, benchmarks }) =>
    benchmarks.map(({ name, mean, median = mean, samples }) => {
      const bench = `${fullName} > ${name}`;
      if (number()(median, false).length > 0) throw badOutput(`vitest: ${bench} has no figures: it failed`);
      return figureOf({ bench, metric: 'latency', unit: 'ns' }, median as number, samples, NS_PER_MS);
    }),
  );
};

const MS_PER_S = 1e3;

const HYPERFINE_RESULT = object(
  { command: text(1), median: number(), times: list(number()) },
  { user: number(), system: number(), exit_codes: list(integer()) },
);
const HYPERFINE_REPORT = object({ results: list(HYPERFINE_RESULT) }, {});

const ofHyperfine = (result: Shaped<typeof HYPERFINE_RESULT>): readonly BenchFigure[] => {
  const { command, median, times, user, system, exit_codes } = result;
  const failed = exit_codes?.find((code) => code !== 0);
  if (failed !== undefined) throw badOutput(`hyperfine: ${command} ended with ${failed}`);
  const wall = figureOf({ bench: command, metric: 'wall', unit: 'ms' }, median, times, MS_PER_S);
  if (user === undefined || system === undefined) return [wall];
  return [wall, figureOf({ bench: command, metric: 'cpu', unit: 'ms' }, (user + system) * MS_PER_S)];
};

const hyperfine: BenchFormat = (document) => read(HYPERFINE_REPORT, document)?.results.flatMap(ofHyperfine);

const CUSTOM_FIGURES = list(
  object({ name: text(1), value: number(), unit: text(1) }, { metric: text(1), samples: list(number()) }),
);

const custom: BenchFormat = (document) => {
  const figures = read(CUSTOM_FIGURES, document);
  if (figures === undefined || figures.length === 0) return undefined;
  return figures.map(({ name, value, unit, metric = 'value', samples }) =>
    figureOf({ bench: name, metric, unit }, value, samples),
  );
};

const NS_PER_MS = 1e6;

/** Milliseconds. Version 2 has no median. */
const TIMES = object({ mean: number() }, { p50: number(), median: number(), samples: list(number()) });
const TINYBENCH_RESULT = object({ latency: TIMES }, { name: text() });
const OLD_TINYBENCH_RESULT = object({ mean: number(), hz: number() }, { name: text(), samples: list(number()) });
const TINYBENCH_TASK = object({ name: text(1), result: object({}, {}) }, {});
const FAILED_TASK = object({ state: text(1) }, { name: text() });

const isOf = (shape: Shape<unknown>, one: unknown): boolean => read(shape, one) !== undefined;

const isTinybenchResult = (one: unknown): boolean => isOf(TINYBENCH_RESULT, one) || isOf(OLD_TINYBENCH_RESULT, one);

/** A task, or a result with a name of its own or none: `bench.results` has them in the order of the tasks. */
const ofTinybenchResult = (one: unknown, index: number): BenchFigure => {
  const { name, result = one } = one as { readonly name?: string; readonly result?: unknown };
  const bench = name ?? `task ${index + 1}`;
  if (!isTinybenchResult(result)) {
    const { state = 'without figures' } = result as { readonly state?: string };
    throw badOutput(`tinybench: ${bench} ended ${state}`);
  }
  const { latency = result } = result as { readonly latency?: unknown };
  const { mean, p50, median = p50 ?? mean, samples } = latency as Shaped<typeof TIMES>;
  return figureOf({ bench, metric: 'latency', unit: 'ns' }, median, samples, NS_PER_MS);
};

/** A row of `bench.table()`: the first number of a cell such as `927.70 ± 1.52%`. */
const ofRow = (row: Readonly<Record<string, unknown>>): readonly BenchFigure[] => {
  const bench = String(row['Task name']);
  const cells: readonly (readonly [string, string, string])[] = [
    ['Latency med (ns)', 'latency', 'ns'],
    ['Throughput med (ops/s)', 'throughput', 'ops/s'],
  ];
  const found = cells.flatMap(([column, metric, unit]) => {
    const value = Number.parseFloat(String(row[column]));
    return Number.isFinite(value) ? [figureOf({ bench, metric, unit }, value)] : [];
  });
  if (found.length === 0) throw badOutput(`tinybench: the row of ${bench} has no median: its task failed`);
  return found;
};

const isRow = (one: unknown): one is Readonly<Record<string, unknown>> =>
  typeof one === 'object' && one !== null && Object.hasOwn(one, 'Task name');

/** Results or rows. */
const tinybench: BenchFormat = (document) => {
  if (!Array.isArray(document) || document.length === 0) return undefined;
  if (document.every(isRow)) return document.flatMap(ofRow);
  const isOne = (one: unknown): boolean =>
    isTinybenchResult(one) || isOf(TINYBENCH_TASK, one) || isOf(FAILED_TASK, one);
  if (!document.every(isOne)) return undefined;
  return document.map(ofTinybenchResult);
};

/** The rows of a table that `console.table` drew; undefined where there is none with the columns of tinybench. */
const drawnRows = (output: string): readonly Readonly<Record<string, string>>[] | undefined => {
  const lines = output
    .split('\n')
    .filter((line) => /^[│|]/.test(line))
    .map((line) =>
      line
        .split(/[│|]/)
        .slice(1, -1)
        .map((cell) => cell.trim().replace(/^'(.*)'$/, '$1')),
    );
  const at = lines.findIndex((cells) => cells.includes('Task name'));
  if (at < 0) return undefined;
  const head = lines[at];
  const rows = lines.slice(at + 1).filter((cells) => cells.length === head.length && /^\d+$/.test(cells[0]));
  return rows.map((cells) => Object.fromEntries(head.map((title, i) => [title, cells[i]])));
};

/** The more a format asks for, the earlier it is tried. */
const FORMATS: Readonly<Record<string, BenchFormat>> = { spanline, autocannon, vitest, hyperfine, custom, tinybench };

/** Names of the formats that are understood. */
export const BENCH_FORMATS: readonly string[] = Object.freeze(Object.keys(FORMATS));

const TOOLS = BENCH_FORMATS.filter((name) => name !== 'custom');

/** The figures of an output. */
export interface BenchOutput {
  /** One of {@link BENCH_FORMATS}; those of several tools in one output with `+` between them. */
  readonly tool: string;
  readonly figures: readonly BenchFigure[];
}

/** Characters that are looked at for the ends of documents: what never ends must not be read over and over. */
const MAX_LOOKED_AT = 2 ** 30;

const parsed = (text: string): unknown => attempt(() => JSON.parse(text));

/** What opens, closes, or begins a text. */
const TOKEN = /[[\]{}"]/g;

/** Behind the quote that ends a text of JSON; -1 where none does. */
const endOfText = (output: string, start: number): number => {
  for (let at = output.indexOf('"', start); at >= 0; at = output.indexOf('"', at + 1)) {
    let escapes = 0;
    while (output[at - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return at + 1;
  }
  return -1;
};

/** Where the brackets that open at `start` are all closed; -1 where they are not. */
const endOf = (output: string, start: number): number => {
  let depth = 0;
  TOKEN.lastIndex = start;
  for (let token = TOKEN.exec(output); token !== null; token = TOKEN.exec(output)) {
    const [sign] = token;
    if (sign === '"') {
      const end = endOfText(output, token.index + 1);
      if (end < 0) return -1;
      TOKEN.lastIndex = end;
    } else {
      depth += sign === '[' || sign === '{' ? 1 : -1;
      if (depth === 0) return token.index + 1;
    }
  }
  return -1;
};

/** The JSON documents in an output: all of it, or what begins at a line's first character, between whatever else is printed. */
const documentsIn = (output: string): readonly unknown[] => {
  const whole = parsed(output);
  if (whole !== undefined) return [whole];
  const documents: unknown[] = [];
  let lookedAt = 0;
  const beginning = /^[[{]/gm;
  for (let found = beginning.exec(output); found !== null; found = beginning.exec(output)) {
    const end = endOf(output, found.index);
    lookedAt += (end < 0 ? output.length : end) - found.index;
    if (lookedAt > MAX_LOOKED_AT) break;
    const document = end < 0 ? undefined : parsed(output.slice(found.index, end));
    if (document === undefined) continue;
    documents.push(document);
    beginning.lastIndex = end;
  }
  return documents;
};

const checked = (tool: string, figures: readonly BenchFigure[]): BenchOutput => {
  if (figures.length === 0) throw badOutput(`the output of ${tool} has no figure: did it run any benchmark?`);
  const seen = new Set<string>();
  for (const { bench, metric } of figures) {
    const name = `${bench} ${metric}`;
    if (seen.has(name)) throw badOutput(`${tool}: two figures are named ${JSON.stringify(name)}; rename one of them`);
    seen.add(name);
  }
  return { tool, figures };
};

const figuresIn = (document: unknown): BenchOutput | undefined => {
  for (const [tool, format] of Object.entries(FORMATS)) {
    const figures = format(document);
    if (figures !== undefined) return { tool, figures };
  }
  return undefined;
};

/** What {@link parseBenchOutput} gives, or undefined for output of no form that is known. */
export const findBenchOutput = (output: string): BenchOutput | undefined => {
  // Windows' tools begin a file with a byte order mark.
  const text = output.replace(/^\ufeff/, '');
  // Logs are JSON too: what is of no form is none of the benchmark's.
  const found = documentsIn(text).flatMap((document) => figuresIn(document) ?? []);
  if (found.length === 0) found.push(...[figuresIn(drawnRows(text))].filter((one) => one !== undefined));
  if (found.length === 0) return undefined;
  const tools = [...new Set(found.map(({ tool }) => tool))];
  return checked(
    tools.join('+'),
    found.flatMap(({ figures }) => figures),
  );
};

/**
 * The figures in what a benchmark printed or wrote: JSON of tinybench (`bench.tasks` with names and results, `bench.results`, `bench.table()`),
 * of `vitest bench --outputJson`, `autocannon --json`, `hyperfine --export-json`, spanline's own benchmarks, a list of
 * `{ name, value, unit }`, or the table that `console.table(bench.table())` draws. Other lines may stand around a document, and several documents
 * in one output, each from the first character of a line on. Times of tinybench and vitest are
 * medians in nanoseconds. Throws `ERR_SPANLINE_BENCH_OUTPUT` for anything else, and for a benchmark that failed.
 *
 * @example
 * ```ts
 * import { parseBenchOutput } from '@spanline/tracedb/bench-history';
 * const { tool, figures } = parseBenchOutput('[{ "name": "encode", "value": 12.5, "unit": "ms" }]');
 * console.assert(tool === 'custom' && figures[0].bench === 'encode' && figures[0].value === 12.5);
 * ```
 */
export const parseBenchOutput = (output: string): BenchOutput => {
  const found = findBenchOutput(output);
  if (found !== undefined) return found;
  throw badOutput(
    `the output is of no benchmark that is known; print the JSON of ${TOOLS.join(', ')}, or a list such as ` +
      '[{ "name": "encode", "value": 12.5, "unit": "ms" }]',
  );
};
