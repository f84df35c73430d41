// What a benchmark printed or wrote, as figures, whichever tool it was. It must never guess: output of no known form is an error that lists the
// forms, and two figures of one name are one too.
import { type BenchFigure, badOutput } from './figure.js';
import { AUTOCANNON, type BenchFormat, CUSTOM, drawnRows, HYPERFINE, SPANLINE, TINYBENCH, VITEST } from './formats.js';

/** The more a format asks for, the earlier it is tried. */
const FORMATS: readonly BenchFormat[] = [SPANLINE, AUTOCANNON, VITEST, HYPERFINE, CUSTOM, TINYBENCH];

/** Names of the formats that are understood. */
export const BENCH_FORMATS: readonly string[] = Object.freeze(FORMATS.map(({ name }) => name));

const TOOLS = BENCH_FORMATS.filter((name) => name !== CUSTOM.name);

/** The figures of an output. */
export interface BenchOutput {
  /** One of {@link BENCH_FORMATS}; those of several tools in one output with `+` between them. */
  readonly tool: string;
  readonly figures: readonly BenchFigure[];
}

/** Characters that are looked at for the ends of documents: what never ends must not be read over and over. */
const MAX_LOOKED_AT = 2 ** 30;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

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
  for (const { name, figures } of FORMATS) {
    const found = figures(document);
    if (found !== undefined) return { tool: name, figures: found };
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
