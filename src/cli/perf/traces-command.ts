// `spanline perf traces count|list|list-by-index|export`: the traces of one tile. Lists are streamed: memory does not grow with them.
import type { Command } from 'commander';
import { makeQuery, type PerfTrace, structuredKeyOf } from '../../tracedb/index.js';
import { printable } from '../columns.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { wholeNumber } from '../options.js';
import { note, type PerfSession, printJson, type StoreOptions, withPerf, withStore, writeOut } from './perf-options.js';
import { tileFor } from './tiles-command.js';

interface TileOptions extends StoreOptions {
  readonly tile?: number;
}

const withTile = (command: Command): Command =>
  withStore(command).option('-t, --tile <number>', 'the tile; the newest when left out', wholeNumber(0));

/** Say why an answer is empty: a mistyped key looks the same as one without values. */
export const noteNothing = async ({ perf, call }: PerfSession, tile: number, query: string): Promise<void> => {
  const plan = await perf.planOf(tile, query, call);
  note(plan.kind === 'empty' ? `tile ${tile}: ${plan.reason}` : `no trace of tile ${tile} meets the query`);
};

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

const listed = (traces: readonly Pick<PerfTrace, 'id' | 'params'>[], json: boolean | undefined): string => {
  const line = ({ id, params }: Pick<PerfTrace, 'id' | 'params'>) =>
    json ? JSON.stringify({ id, params }) : printable(structuredKeyOf(params));
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
          throw new CommandError(
            'ERR_SPANLINE_NOT_FOUND',
            `tile ${tile} has no trace with ${key}=${value}: ${plan.reason}; its keys are ${keys.join(', ') || 'none'}`,
            ExitCode.findings,
          );
        }
        for await (const batch of session.perf.indexedTraces(tile, key, value, session.call)) {
          await writeOut(listed(batch, options.json));
        }
      }),
    );
  withTile(traces.command('export [query]'))
    .description('values of the traces a query selects, as CSV (key, commit, hash, value) or with --json as JSON lines')
    .addHelpText('after', "\nExamples:\n  $ spanline perf traces export -s ./perf 'test=~span' > values.csv")
    .action((query: string | undefined, options: TileOptions) =>
      withPerf(options, async (session) => {
        const tile = await tileFor(session, options.tile);
        const commits = await tileCommits(session, tile);
        const linesOf = options.json ? jsonLines : csvLines;
        if (!options.json) await writeOut('key,commit,hash,value\n');
        let count = 0;
        for await (const batch of session.perf.query(tile, query ?? '', session.call)) {
          count += batch.length;
          await writeOut(linesOf(batch, commits));
        }
        if (count === 0) await noteNothing(session, tile, query ?? '');
      }),
    );
};
