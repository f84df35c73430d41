// What a benchmark printed or wrote, as figures, whichever tool it was. It must never guess: output of no known form is an error that lists the
// forms, and two figures of one name are one too.
import { badOutput } from './bench-error.js';
import type { BenchFigure } from './figure.js';
import { AUTOCANNON } from './formats/autocannon.js';
import { CUSTOM } from './formats/custom.js';
import type { BenchFormat } from './formats/format.js';
import { HYPERFINE } from './formats/hyperfine.js';
import { SPANLINE } from './formats/spanline.js';
import { drawnRows, TINYBENCH } from './formats/tinybench.js';
import { VITEST } from './formats/vitest.js';

/** The more a format asks for, the earlier it is tried. */
const FORMATS: readonly BenchFormat[] = [SPANLINE, AUTOCANNON, VITEST, HYPERFINE, CUSTOM, TINYBENCH];

/** Names of the formats that are understood. */
export const BENCH_FORMATS: readonly string[] = Object.freeze(FORMATS.map(({ name }) => name));

const TOOLS = BENCH_FORMATS.filter((name) => name !== CUSTOM.name);

/** The figures of an output. */
export interface BenchOutput {
  /** One of {@link BENCH_FORMATS}. */
  readonly tool: string;
  readonly figures: readonly BenchFigure[];
}

/** Lines of output that are tried as the beginning of its JSON document. */
const MAX_BEGINNINGS = 1000;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The JSON document in an output: all of it, one of its lines (the last wins), or what stands from one of its lines on, as behind npm's. No line that is indented begins one. */
const documentIn = (output: string): unknown => {
  const whole = parsed(output);
  if (whole !== undefined) return whole;
  const lines = output.split('\n');
  const beginnings = lines.flatMap((line, i) => (/^[[{]/.test(line) ? [i] : [])).slice(0, MAX_BEGINNINGS);
  for (const i of beginnings.toReversed()) {
    const line = parsed(lines[i]);
    if (line !== undefined) return line;
  }
  for (const i of beginnings) {
    // A benchmark may say goodbye behind its document.
    for (const rest of [lines.slice(i), lines.slice(i, lines.findLastIndex((line) => /[\]}]\s*$/.test(line)) + 1)]) {
      const document = parsed(rest.join('\n'));
      if (document !== undefined) return document;
    }
  }
  return undefined;
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

/** What {@link parseBenchOutput} gives, or undefined for output of no form that is known. */
export const findBenchOutput = (output: string): BenchOutput | undefined => {
  const document = documentIn(output) ?? drawnRows(output);
  for (const { name, figures } of FORMATS) {
    const found = figures(document);
    if (found !== undefined) return checked(name, found);
  }
  return undefined;
};

/**
 * The figures in what a benchmark printed or wrote: JSON of tinybench (`bench.tasks` with names and results, `bench.results`, `bench.table()`),
 * of `vitest bench --outputJson`, `autocannon --json`, `hyperfine --export-json`, spanline's own benchmarks, a list of
 * `{ name, value, unit }`, or the table that `console.table(bench.table())` draws. Other lines may stand around the document. Times of tinybench and vitest are
 * medians in nanoseconds. Throws `ERR_SPANLINE_BENCH_OUTPUT` for anything else, and for a benchmark that failed.
 *
 * @example
 * ```ts
 * import { parseBenchOutput } from 'spanline/bench-history';
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
