// `spanline perf indices count|write|write-all`: looks after the index rows, which a crash can leave behind the traces.
import type { Command } from 'commander';
import { columns, Progress } from '../output.js';
import { type PerfSession, printAnswer, type StoreOptions, withPerf, withStore } from './perf-options.js';
import { type TileOptions, tileFor, withTile } from './tiles-command.js';

interface Written {
  readonly tile: number;
  readonly rows: number;
}

const write = async ({ perf, call }: PerfSession, tile: number): Promise<Written> => {
  const progress = new Progress();
  try {
    const rows = await perf.writeIndices(tile, {
      ...call,
      onProgress: (rows) => progress.show(`tile ${tile}: ${rows} rows`),
    });
    return { tile, rows };
  } finally {
    progress.clear();
  }
};

const print = (written: readonly Written[], json: boolean | undefined): void => {
  const rows = written.map(({ tile, rows }) => [String(tile), String(rows)]);
  printAnswer(json, written, columns(['tile', 'index rows'], rows, 'rr'));
};

/** Register the commands. */
export const register = (perf: Command): void => {
  const indices = perf
    .command('indices')
    .description('the index of the store')
    .addHelpText('after', '\nExamples:\n  $ spanline perf indices write-all -s ./perf');
  withTile(indices.command('count'))
    .description('index rows of a tile: one for each param of each trace')
    .addHelpText('after', '\nExamples:\n  $ spanline perf indices count -s ./perf')
    .action((options: TileOptions) =>
      withPerf(options, async (session) => {
        const tile = await tileFor(session, options.tile);
        print([{ tile, rows: await session.perf.countIndices(tile, session.call) }], options.json);
      }),
    );
  withTile(indices.command('write'))
    .description('write the index of a tile anew, from its traces')
    .addHelpText('after', '\nExamples:\n  $ spanline perf indices write -s ./perf --tile 3')
    .action((options: TileOptions) =>
      withPerf(options, async (session) =>
        print([await write(session, await tileFor(session, options.tile))], options.json),
      ),
    );
  withStore(indices.command('write-all'))
    .description('write the index of all tiles anew')
    .addHelpText('after', '\nExamples:\n  $ spanline perf indices write-all -s ./perf')
    .action((options: StoreOptions) =>
      withPerf(options, async (session) => {
        const written: Written[] = [];
        for (const tile of await session.perf.tiles(session.call)) written.push(await write(session, tile));
        print(written, options.json);
      }),
    );
};
