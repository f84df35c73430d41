// `spanline perf query`: the values a query selects, or with --explain how it was answered.

import { structuredKeyOf } from '@spanline/tracedb';
import { medianOf } from '@spanline/tracedb/internal';
import { Collector, type Reporter, Span } from 'spanline';
import { type Commands, command, options, type Values } from '../command.js';
import { failed, wrongUsage } from '../exit-code.js';
import { wholeNumber } from '../options.js';
import { columns, digits, note, printAnswer, writeOut } from '../output.js';
import { type PerfSession, TILE, tileFor, withPerf } from './perf-options.js';
import { RANGE, rangeOf, selectedTraces } from './selected-traces.js';

const QUERY = options({
  ...TILE,
  ...RANGE,
  limit: [
    '-n, --limit <traces>',
    'no more traces than this; --explain stops after the batch that has them',
    wholeNumber(1),
  ],
  explain: ['--explain', 'run the query and print its plan with rows, bytes, ids, time, waiting and CPU of every node'],
  otlp: ['--otlp <url>', 'with --explain: send the trace there too, for example to Jaeger at http://localhost:4318'],
});

type QueryOptions = Values<typeof QUERY>;

/** Figures of the values that there are. */
const summary = (present: readonly number[]) => {
  const sorted = present.toSorted((a, b) => a - b);
  return { values: present.length, min: sorted[0], median: medianOf(sorted), max: sorted.at(-1), last: present.at(-1) };
};

const number = (value: number | undefined): string => (value === undefined ? '' : digits(value, 7));

const ROWS_A_TABLE = 10_000;

/** Print the traces of a tile or of a range of commits. */
const print = async (session: PerfSession, query: string, options: QueryOptions): Promise<void> => {
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  let rows: string[][] = [];
  const flush = async (): Promise<void> => {
    await writeOut(columns(['trace', 'values', 'min', 'median', 'max', 'last'], rows, 'lrrrrr'));
    rows = [];
  };
  for await (const batch of selectedTraces(session, query, rangeOf(options, options.tile), options.tile)) {
    const some = batch.slice(0, left);
    left -= some.length;
    for (const { params, points } of some) {
      if (options.json) {
        await writeOut(`${JSON.stringify({ params, values: points.map(({ commit, value }) => [commit, value]) })}\n`);
        continue;
      }
      const { values, min, median, max, last } = summary(points.map(({ value }) => value));
      rows.push([structuredKeyOf(params), String(values), ...[min, median, max, last].map(number)]);
    }
    if (rows.length >= ROWS_A_TABLE) await flush();
    if (left <= 0) break;
  }
  if (!options.json) await flush();
};

/** CPU samples of an explained query: dear for a program that goes on, right for one query. */
const EXPLAIN_EVERY_MS = 0.25;

const otlpReporter = async (endpoint: string): Promise<Reporter> => {
  const { OtlpReporter } = await import('spanline/exporters/otlp');
  // What did not arrive is said by the command itself.
  return new OtlpReporter({ endpoint }, process.env, () => {});
};

const explain = async (
  { perf, call }: PerfSession,
  tile: number,
  query: string,
  options: QueryOptions,
): Promise<void> => {
  const { MemoryReporter } = await import('spanline/exporters/memory');
  const { CpuReporter, startProfile } = await import('@spanline/profile');
  const { explainText, explainTree } = await import('./explain.js');
  const memory = new MemoryReporter();
  const reporters = [memory, ...(options.otlp === undefined ? [] : [await otlpReporter(options.otlp)])].map(
    (reporter) => new CpuReporter(reporter),
  );
  const collector = new Collector({ serviceName: 'spanline-perf' });
  collector.setReporter(reporters);
  // Not everywhere can a profile be taken; the plan is what was asked for.
  const running = await startProfile({ everyMs: EXPLAIN_EVERY_MS }).catch((error: Error) =>
    note(`no CPU times: ${error.message}`),
  );
  const root = Span.root('perf.query', undefined, {
    collector,
    properties: { tile, query, engine: perf.table.engine },
  });
  let traces = 0;
  try {
    await root.run(async () => {
      for await (const batch of perf.query(tile, query, call)) {
        traces += batch.length;
        if (traces >= (options.limit ?? Number.POSITIVE_INFINITY)) break;
      }
    });
  } finally {
    root.addProperty('traces', traces);
    root.end();
    const profile = running?.stop();
    if (profile !== undefined) for (const reporter of reporters) reporter.add(profile);
  }
  await collector.shutdown();
  const spans = memory.traces.flatMap((trace) => trace.spans);
  const traceId = memory.traces[0]?.traceId;
  const text = `${explainText(spans)}${traces} traces; trace ${traceId}\n`;
  printAnswer(options.json, { traceId, plan: explainTree(spans) }, text);
  const lost = Object.values(collector.stats().reporters).find(({ lastError }) => lastError !== undefined);
  if (lost !== undefined)
    throw failed('ERR_SPANLINE_OTLP', `the trace did not reach ${options.otlp}: ${lost.lastError}`);
};

export const commands = {
  query: command({
    words: '<query>',
    what: "values of the traces of a tile, or of a range of commits: 'arch=x86&config=8888&test=~draw'",
    options: QUERY,
    help: `
Queries are URL-encoded. Values of one key are alternatives, all keys must hold:
  arch=x86&arch=arm   either          test=~^draw   matches a regular expression (RE2)
  arch=!x86           another value   test=!~draw   does not match
  os=*                has the key     a%2Bb         a plus sign ("+" is a blank)
The empty query ('') selects all traces. --json prints one JSON object a trace and line.

A key or value that the store has only as cleaning writes it (hello/mean: hello_mean) finds that.

Examples:
  $ spanline perf query -s ./perf 'unit=ms&test=~span'
  $ spanline perf query -s ./perf 'unit=ms' --last 1000
  $ spanline perf query -s ./perf 'unit=ms' --from 2026-01-01 --to 5ce32c0
  $ spanline perf query -s ./perf 'unit=ms&test=~span' --explain
  $ spanline perf query -s ./perf 'unit=ms' --explain --otlp http://localhost:4318`,
    run: (options, query: string) => {
      if (options.otlp !== undefined && !options.explain) {
        throw wrongUsage('--otlp sends the trace of --explain; give both');
      }
      if (options.explain && rangeOf(options, undefined) !== undefined) {
        throw wrongUsage('--explain shows the plan of one tile; leave out --from, --to and --last, and name a --tile');
      }
      return withPerf(options, async (session) => {
        if (options.explain) await explain(session, await tileFor(session, options.tile), query, options);
        else await print(session, query, options);
      });
    },
  }),
} satisfies Commands;
