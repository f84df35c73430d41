// The commands of `spanline perf` on a store itself: it is made, once; its commits, with the numbers that tiles and values are counted by; its tiles;
// its index rows, which a crash can leave behind the traces; and the config file that names it, every problem of which is said at once.

import { readFile } from 'node:fs/promises';
import { configProblems, type PerfStore } from '@spanline/tracedb';
import { MAX_TILE_SIZE, MIN_TILE_SIZE } from '@spanline/tracedb/internal';
import type { Command } from 'commander';
import { escapeText } from 'spanline/internal/base';
import { CommandError, ExitCode, endWith, unreadable } from '../exit-code.js';
import { wholeNumber } from '../options.js';
import { columns, Progress, printAnswer } from '../output.js';
import { type StoreOptions, withAllowedChars } from '../store-session.js';
import {
  type NewPerfStore,
  type PerfSession,
  type TileOptions,
  tileFor,
  withPerf,
  withStore,
  withTile,
} from './perf-options.js';

const addInit = (perf: Command): void => {
  withAllowedChars(withStore(perf.command('init')))
    .description('make a store; harmless when it exists and was made so')
    .option(
      '--tile-size <commits>',
      'commits of a tile: fixed once there is data (default 256)',
      wholeNumber(MIN_TILE_SIZE, MAX_TILE_SIZE),
    )
    .option('--shards <count>', 'shards of a tile: fixed once there is data (default 8)', wholeNumber(1, 64))
    .addHelpText(
      'after',
      '\nExamples:\n  $ spanline perf init --store ./perf\n  $ spanline perf init --store ./perf --tile-size 1024',
    )
    .action(async (options: StoreOptions & NewPerfStore) => {
      await withPerf(
        options,
        async ({ perf }) => {
          const made = { store: perf.table.location, engine: perf.table.engine, ...perf.config };
          const text = `${made.store}: tiles of ${made.tileSize} commits in ${made.shards} shards\n`;
          printAnswer(options.json, made, text);
        },
        { make: { tileSize: options.tileSize, shards: options.shards } },
      );
    });
};

interface CommitsOptions extends StoreOptions {
  readonly last?: number;
}

const addCommits = (perf: Command): void => {
  withStore(perf.command('commits'))
    .description('the commits of the store: number, hash, time; the oldest first')
    .option('-n, --last <count>', 'only the newest ones', wholeNumber(1))
    .addHelpText('after', '\nExamples:\n  $ spanline perf commits -s ./perf --last 20')
    .action((options: CommitsOptions) =>
      withPerf(options, async ({ perf: store, call }) => {
        const all = await store.commits.list({}, call);
        const commits = options.last === undefined ? all : all.slice(-options.last);
        const rows = commits.map(({ number, hash, timestampMs }) => [
          String(number),
          hash,
          timestampMs === undefined ? '' : new Date(timestampMs).toISOString(),
        ]);
        printAnswer(options.json, commits, columns(['number', 'commit', 'time'], rows, 'rll'));
      }),
    );
};

const describeTile = async (perf: PerfStore, tile: number, call: PerfSession['call']) => {
  const ops = await perf.orderedParamSet(tile, call);
  const firstCommit = tile * perf.config.tileSize;
  return {
    tile,
    firstCommit,
    lastCommit: firstCommit + perf.config.tileSize - 1,
    keys: ops.keys.length,
    params: ops.keys.reduce((sum, key) => sum + ops.values(key).length, 0),
  };
};

const printTiles = (tiles: readonly Awaited<ReturnType<typeof describeTile>>[], json: boolean | undefined): void => {
  const rows = tiles.map(({ tile, firstCommit, lastCommit, keys, params }) =>
    [tile, firstCommit, lastCommit, keys, params].map(String),
  );
  printAnswer(json, tiles, columns(['tile', 'first commit', 'last commit', 'keys', 'params'], rows, 'rrrrr'));
};

const addTiles = (perf: Command): void => {
  const tiles = perf
    .command('tiles')
    .description('the tiles of the store')
    .addHelpText('after', '\nExamples:\n  $ spanline perf tiles list --store ./perf');
  withStore(tiles.command('last'))
    .description('the newest tile')
    .addHelpText('after', '\nExamples:\n  $ spanline perf tiles last --store ./perf')
    .action((options: StoreOptions) =>
      withPerf(options, async (session) => {
        const tile = await tileFor(session, undefined);
        printTiles([await describeTile(session.perf, tile, session.call)], options.json);
      }),
    );
  withStore(tiles.command('list'))
    .description('all tiles, the newest first')
    .addHelpText('after', '\nExamples:\n  $ spanline perf tiles list --store ./perf --json')
    .action((options: StoreOptions) =>
      withPerf(options, async ({ perf: store, call }) => {
        const all = await store.tiles(call);
        const described = [];
        for (const tile of all) described.push(await describeTile(store, tile, call));
        printTiles(described, options.json);
      }),
    );
};

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

const printWritten = (written: readonly Written[], json: boolean | undefined): void => {
  const rows = written.map(({ tile, rows }) => [String(tile), String(rows)]);
  printAnswer(json, written, columns(['tile', 'index rows'], rows, 'rr'));
};

const addIndices = (perf: Command): void => {
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
        printWritten([{ tile, rows: await session.perf.countIndices(tile, session.call) }], options.json);
      }),
    );
  withTile(indices.command('write'))
    .description('write the index of a tile anew, from its traces')
    .addHelpText('after', '\nExamples:\n  $ spanline perf indices write -s ./perf --tile 3')
    .action((options: TileOptions) =>
      withPerf(options, async (session) =>
        printWritten([await write(session, await tileFor(session, options.tile))], options.json),
      ),
    );
  withStore(indices.command('write-all'))
    .description('write the index of all tiles anew')
    .addHelpText('after', '\nExamples:\n  $ spanline perf indices write-all -s ./perf')
    .action((options: StoreOptions) =>
      withPerf(options, async (session) => {
        const written: Written[] = [];
        for (const tile of await session.perf.tiles(session.call)) written.push(await write(session, tile));
        printWritten(written, options.json);
      }),
    );
};

const readDocument = async (file: string): Promise<unknown> => {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw unreadable(file, cause);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new CommandError(
      'ERR_SPANLINE_INVALID_INPUT',
      `${file} is not JSON: ${(cause as Error).message}`,
      ExitCode.findings,
      { cause },
    );
  }
};

const addConfig = (perf: Command): void => {
  const config = perf
    .command('config')
    .description('the config file of an instance')
    .addHelpText('after', '\nExamples:\n  $ spanline perf config validate spanline-perf.json');
  config
    .command('validate <file>')
    .description('check a config file and print every problem with its path')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
A config file: { "store": "./perf", "tileSize": 256, "directions": { "score": "up" },
                 "detection": { "detector": "e-divisive", "minimumEffect": 0.03 } }

Examples:
  $ spanline perf config validate spanline-perf.json

Exit codes: 0 good, 1 problems, 3 the file cannot be read.`,
    )
    .action(async (file: string, options: { readonly json?: boolean }) => {
      const problems = await configProblems(await readDocument(file));
      const lines = problems.map(({ path, reason }) => `${file}: ${escapeText(`${path || '/'} ${reason}`)}\n`);
      const text = problems.length === 0 ? `${file}: good\n` : lines.join('');
      printAnswer(options.json, { file, valid: problems.length === 0, problems }, text);
      if (problems.length > 0) endWith(ExitCode.findings);
    });
};

const COMMANDS: Readonly<Record<string, (group: Command) => void>> = {
  init: addInit,
  tiles: addTiles,
  commits: addCommits,
  indices: addIndices,
  config: addConfig,
};

/** Register the command of this name. */
export const register = (group: Command, name: string): void => COMMANDS[name](group);
