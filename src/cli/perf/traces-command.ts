// `spanline perf traces count|list|list-by-index|export`: the traces of one tile. Lists are streamed: memory does not grow with them.

import type { Command } from 'commander';
import { escapeText } from '../../base/text/escape-text.js';
import { type CommitRange, makeQuery, type PerfSeries, type PerfTrace, structuredKeyOf } from '../../tracedb/index.js';
import { ExitCode, endWith, notFound } from '../exit-code.js';
import { type RangeOptions, rangeOf, withRange } from './commit-range.js';
import { note, type PerfSession, printJson, withPerf, writeOut } from './perf-options.js';
import { type TileOptions, tileFor, withTile } from './tiles-command.js';

/** Say why an answer is empty: a mistyped key looks the same as one without values. */
export const noteNothing = async ({ perf, call }: PerfSession, tile: number, query: string): Promise<void> => {
  endWith(ExitCode.findings);
  const plan = await perf.planOf(tile, query, call);
  note(plan.kind === 'empty' ? `tile ${tile}: ${plan.reason}` : `no trace of tile ${tile} meets the query`);
};

/** The same for a query of histories, by what the newest tile knows. */
export const noteNothingInNewest = async (session: PerfSession, query: string): Promise<void> =>
  noteNothing(session, await tileFor(session, undefined), query);

const csvField = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** The commits of a tile, by column. */
interface TileCommits {
  readonly first: number;
  /** Hashes by number; a value may stand at a number that no commit has. */
  readonly hashes: ReadonlyMap<number, string>;
}

const tileCommits = async ({ perf, call }: PerfSession, tile: number): Promise<TileCommits> => {
  const first = tile * perf.config.tileSize;
  const commits = await perf.commits.list({ from: first, to: first + perf.config.tileSize - 1 }, call);
  return { first, hashes: new Map(commits.map(({ number, hash }) => [number, hash])) };
};

const pointsOf = ({ values }: PerfTrace, { first, hashes }: TileCommits) =>
  Array.from(values.entries())
    .filter(([, value]) => !Number.isNaN(value))
    .map(([offset, value]) => ({ commit: first + offset, hash: hashes.get(first + offset), value }));

const csvLines = (traces: readonly PerfTrace[], commits: TileCommits): string => {
  let lines = '';
  for (const trace of traces) {
    const key = csvField(structuredKeyOf(trace.params));
    for (const { commit, hash = '', value } of pointsOf(trace, commits)) {
      lines += `${key},${commit},${csvField(hash)},${value}\n`;
    }
  }
  return lines;
};

const jsonLines = (traces: readonly PerfTrace[], commits: TileCommits): string =>
  traces.map((trace) => `${JSON.stringify({ params: trace.params, points: pointsOf(trace, commits) })}\n`).join('');

/** Say why a range has nothing, and end with 1: no commit, or no tile that knows the query; then each tile says what is near. */
export const noteNothingIn = async ({ perf, call }: PerfSession, range: CommitRange, query: string): Promise<void> => {
  endWith(ExitCode.findings);
  const commits = await perf.commits.list(range, call);
  const newest = commits.at(-1);
  if (newest === undefined) {
    const all = await perf.commits.list({ last: 1 }, call);
    const isTimeless = all.length > 0 && all[0]?.timestampMs === undefined;
    note(`no commit in this range${isTimeless ? '; the newest commit of the store has no time: name commits' : ''}`);
    return;
  }
  const plan = await perf.planOf(perf.tileOf(newest.number), query, call);
  note(
    plan.kind === 'empty'
      ? `nothing in these ${commits.length} commits; in the newest tile of them: ${plan.reason}`
      : `no trace that meets the query has a value at these ${commits.length} commits`,
  );
};

const seriesPoints = ({ commits, values }: PerfSeries) =>
  commits.map(({ number, hash }, i) => ({ commit: number, hash, value: values[i] as number }));

const seriesLines = (series: readonly PerfSeries[], isJson: boolean | undefined): string => {
  let lines = '';
  for (const one of series) {
    const points = seriesPoints(one);
    if (isJson) lines += `${JSON.stringify({ params: one.params, points })}\n`;
    else
      for (const { commit, hash, value } of points)
        lines += `${csvField(one.key)},${commit},${csvField(hash)},${value}\n`;
  }
  return lines;
};

const exportRange = async (
  session: PerfSession,
  range: CommitRange,
  query: string,
  isJson: boolean | undefined,
): Promise<void> => {
  let count = 0;
  for await (const series of session.perf.querySeries(query, { ...range, ...session.call })) {
    count += series.length;
    await writeOut(seriesLines(series, isJson));
  }
  if (count === 0) await noteNothingIn(session, range, query);
};

const listed = (traces: readonly Pick<PerfTrace, 'id' | 'params'>[], json: boolean | undefined): string => {
  const line = ({ id, params }: Pick<PerfTrace, 'id' | 'params'>) =>
    json ? JSON.stringify({ id, params }) : escapeText(structuredKeyOf(params));
  return `${traces.map(line).join('\n')}\n`;
};

/** Register the commands. */
export const registerTraces = (perf: Command): void => {
  const traces = perf
    .command('traces')
    .description('the traces of a tile')
    .addHelpText('after', "\nExamples:\n  $ spanline perf traces list -s ./perf 'unit=ms'");
  withTile(traces.command('count [query]'))
    .description('how many traces a query selects; all without one')
    .addHelpText(
      'after',
      "\nExamples:\n  $ spanline perf traces count -s ./perf\n  $ spanline perf traces count -s ./perf 'unit=ms'",
    )
    .action((query: string | undefined, options: TileOptions) =>
      withPerf(options, async (session) => {
        const tile = await tileFor(session, options.tile);
        const count = await session.perf.count(tile, query ?? '', session.call);
        if (options.json) printJson({ tile, query: query ?? '', count });
        else process.stdout.write(`${count}\n`);
      }),
    );
  withTile(traces.command('list [query]'))
    .description('structured keys of the traces a query selects; all without one. --json: one JSON object a line')
    .addHelpText('after', "\nExamples:\n  $ spanline perf traces list -s ./perf 'test=~span'")
    .action((query: string | undefined, options: TileOptions) =>
      withPerf(options, async (session) => {
        const tile = await tileFor(session, options.tile);
        let count = 0;
        for await (const batch of session.perf.query(tile, query ?? '', session.call)) {
          count += batch.length;
          await writeOut(listed(batch, options.json));
        }
        if (count === 0) await noteNothing(session, tile, query ?? '');
      }),
    );
  withTile(traces.command('list-by-index <key> <value>'))
    .description('the traces that the index has for one value: what a query reads of it')
    .addHelpText('after', '\nExamples:\n  $ spanline perf traces list-by-index -s ./perf unit ms')
    .action((key: string, value: string, options: TileOptions) =>
      withPerf(options, async (session) => {
        const tile = await tileFor(session, options.tile);
        const only = makeQuery([{ key, kind: 'one-of', values: [value] }]);
        const plan = await session.perf.planOf(tile, only, session.call);
        if (plan.kind === 'empty') {
          const { keys } = await session.perf.orderedParamSet(tile, session.call);
          throw notFound(
            `tile ${tile} has no trace with ${key}=${value}: ${plan.reason}; its keys are ${keys.join(', ') || 'none'}`,
          );
        }
        for await (const batch of session.perf.indexedTraces(tile, key, value, session.call)) {
          await writeOut(listed(batch, options.json));
        }
      }),
    );
  withRange(withTile(traces.command('export [query]')))
    .description('values of the traces a query selects, as CSV (key, commit, hash, value) or with --json as JSON lines')
    .addHelpText(
      'after',
      `
Without a range: the values of one tile. With --from, --to or --last: of these commits over all tiles, sorted by key and commit.

Examples:
  $ spanline perf traces export -s ./perf 'test=~span' > values.csv
  $ spanline perf traces export -s ./perf 'test=~span' --last 1000 > values.csv
  $ spanline perf traces export -s ./perf --from 2026-01-01 --to 2026-03-31 --json`,
    )
    .action((query: string | undefined, options: TileOptions & RangeOptions) =>
      withPerf(options, async (session) => {
        const range = rangeOf(options, options.tile);
        if (!options.json) await writeOut('key,commit,hash,value\n');
        if (range !== undefined) {
          await exportRange(session, range, query ?? '', options.json);
          return;
        }
        const tile = await tileFor(session, options.tile);
        const commits = await tileCommits(session, tile);
        const linesOf = options.json ? jsonLines : csvLines;
        let count = 0;
        for await (const batch of session.perf.query(tile, query ?? '', session.call)) {
          count += batch.length;
          await writeOut(linesOf(batch, commits));
        }
        if (count === 0) await noteNothing(session, tile, query ?? '');
      }),
    );
};
