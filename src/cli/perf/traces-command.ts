// `spanline perf traces count|list|list-by-index|export`: the traces of one tile. Lists are streamed: memory does not grow with them.
import { once } from 'node:events';
import type { Command } from 'commander';
import { makeStructuredKey, type PerfTrace } from '../../tracedb/index.js';
import { printable } from '../columns.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { wholeNumber } from '../options.js';
import { printJson, type StoreOptions, withPerf, withStore } from './perf-options.js';
import { tileFor } from './tiles-command.js';

interface TileOptions extends StoreOptions {
  readonly tile?: number;
}

const withTile = (command: Command): Command =>
  withStore(command).option('-t, --tile <number>', 'the tile; the newest when left out', wholeNumber(0));

/** Write to stdout at the pace it is read. */
export const writeOut = async (text: string): Promise<void> => {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
};

const csvField = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const csvLines = (traces: readonly PerfTrace[], first: number): string => {
  let lines = '';
  for (const { params, values } of traces) {
    const key = csvField(makeStructuredKey(params));
    for (const [offset, value] of values.entries())
      if (!Number.isNaN(value)) lines += `${key},${first + offset},${value}\n`;
  }
  return lines;
};

const jsonLines = (traces: readonly PerfTrace[], first: number): string => {
  let lines = '';
  for (const { params, values } of traces) {
    const points = Array.from(values.entries()).filter(([, value]) => !Number.isNaN(value));
    lines += `${JSON.stringify({ params, points: points.map(([offset, value]) => ({ commit: first + offset, value })) })}\n`;
  }
  return lines;
};

/** Register the commands. */
export const registerTraces = (perf: Command): void => {
  const traces = perf.command('traces').description('the traces of a tile');
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
        for await (const batch of session.perf.query(tile, query ?? '', session.call)) {
          const line = ({ id, params }: PerfTrace) =>
            options.json ? JSON.stringify({ id, params }) : printable(makeStructuredKey(params));
          await writeOut(`${batch.map(line).join('\n')}\n`);
        }
      }),
    );
  withTile(traces.command('list-by-index <key> <value>'))
    .description('the traces that the index has for one value: what a query reads of it')
    .addHelpText('after', '\nExamples:\n  $ spanline perf traces list-by-index -s ./perf unit ms')
    .action((key: string, value: string, options: TileOptions) =>
      withPerf(options, async (session) => {
        const tile = await tileFor(session, options.tile);
        const ops = await session.perf.orderedParamSet(tile, session.call);
        if (ops.valueIndex(key, value) < 0) {
          throw new CommandError(
            'ERR_SPANLINE_NOT_FOUND',
            `tile ${tile} has no trace with ${key}=${value}; its keys are ${ops.keys.join(', ') || 'none'}`,
            ExitCode.findings,
          );
        }
        for await (const ids of session.perf.indexIds(tile, key, value, session.call)) {
          const line = (id: string) =>
            options.json
              ? JSON.stringify({ id, params: ops.decode(id) })
              : printable(makeStructuredKey(ops.decode(id)));
          await writeOut(`${ids.map(line).join('\n')}\n`);
        }
      }),
    );
  withTile(traces.command('export [query]'))
    .description('values of the traces a query selects, as CSV (key, commit, value) or with --json as JSON lines')
    .addHelpText('after', "\nExamples:\n  $ spanline perf traces export -s ./perf 'test=~span' > values.csv")
    .action((query: string | undefined, options: TileOptions) =>
      withPerf(options, async (session) => {
        const tile = await tileFor(session, options.tile);
        const first = tile * session.perf.config.tileSize;
        if (!options.json) await writeOut('key,commit,value\n');
        for await (const batch of session.perf.query(tile, query ?? '', session.call)) {
          await writeOut(options.json ? jsonLines(batch, first) : csvLines(batch, first));
        }
      }),
    );
};
