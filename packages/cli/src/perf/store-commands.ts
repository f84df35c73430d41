// The commands of `spanline perf` on a store itself: it is made, once; its commits, with the numbers that tiles and values are counted by; its tiles;
// its index rows, which a crash can leave behind the traces; and the config file that names it, every problem of which is said at once.

import { configProblems, type PerfStore } from '@spanline/tracedb';
import { escapeText, orThrow } from 'spanline/internal/base';
import { type Commands, command } from '../command.js';
import { CommandError, ExitCode, endWith } from '../exit-code.js';
import { readText } from '../files.js';
import { JSON_OPTION, wholeNumber } from '../options.js';
import { columns, Progress, printAnswer } from '../output.js';
import { CLEANING, tileSize } from '../store-session.js';
import { type PerfSession, STORE, TILE, tileFor, withPerf } from './perf-options.js';

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

interface Written {
  readonly tile: number;
  readonly rows: number;
}

const write = async ({ perf, call }: PerfSession, tile: number): Promise<Written> => {
  using progress = new Progress();
  const rows = await perf.writeIndices(tile, {
    ...call,
    onProgress: (rows) => progress.show(`tile ${tile}: ${rows} rows`),
  });
  return { tile, rows };
};

const printWritten = (written: readonly Written[], json: boolean | undefined): void => {
  const rows = written.map(({ tile, rows }) => [String(tile), String(rows)]);
  printAnswer(json, written, columns(['tile', 'index rows'], rows, 'rr'));
};

const readDocument = async (file: string): Promise<unknown> => {
  const text = await readText(file);
  return orThrow(
    () => JSON.parse(text),
    (cause) =>
      new CommandError('ERR_SPANLINE_INVALID_INPUT', `${file} is not JSON: ${cause.message}`, ExitCode.findings, cause),
  );
};

export const commands = {
  init: command({
    what: 'make a store; harmless when it exists and was made so',
    options: {
      ...STORE,
      ...CLEANING,
      ...tileSize('fixed once there is data'),
      shards: ['--shards <count>', 'shards of a tile: fixed once there is data (default 8)', wholeNumber(1, 64)],
    },
    help: '\nExamples:\n  $ spanline perf init --store ./perf\n  $ spanline perf init --store ./perf --tile-size 1024',
    run: async (options) => {
      await withPerf(
        options,
        async ({ perf }) => {
          const made = { store: perf.table.location, engine: perf.table.engine, ...perf.config };
          const text = `${made.store}: tiles of ${made.tileSize} commits in ${made.shards} shards\n`;
          printAnswer(options.json, made, text);
        },
        { make: { tileSize: options.tileSize, shards: options.shards } },
      );
    },
  }),

  commits: command({
    what: 'the commits of the store: number, hash, time; the oldest first',
    options: { ...STORE, last: ['-n, --last <count>', 'only the newest ones', wholeNumber(1)] },
    help: '\nExamples:\n  $ spanline perf commits -s ./perf --last 20',
    run: (options) =>
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
  }),

  tiles: {
    what: 'the tiles of the store',
    help: '\nExamples:\n  $ spanline perf tiles list --store ./perf',
    commands: {
      last: command({
        what: 'the newest tile',
        options: { ...STORE },
        help: '\nExamples:\n  $ spanline perf tiles last --store ./perf',
        run: (options) =>
          withPerf(options, async (session) => {
            const tile = await tileFor(session, undefined);
            printTiles([await describeTile(session.perf, tile, session.call)], options.json);
          }),
      }),
      list: command({
        what: 'all tiles, the newest first',
        options: { ...STORE },
        help: '\nExamples:\n  $ spanline perf tiles list --store ./perf --json',
        run: (options) =>
          withPerf(options, async ({ perf: store, call }) => {
            const all = await store.tiles(call);
            const described = [];
            for (const tile of all) described.push(await describeTile(store, tile, call));
            printTiles(described, options.json);
          }),
      }),
    },
  },

  indices: {
    what: 'the index of the store',
    help: '\nExamples:\n  $ spanline perf indices write-all -s ./perf',
    commands: {
      count: command({
        what: 'index rows of a tile: one for each param of each trace',
        options: { ...TILE },
        help: '\nExamples:\n  $ spanline perf indices count -s ./perf',
        run: (options) =>
          withPerf(options, async (session) => {
            const tile = await tileFor(session, options.tile);
            printWritten([{ tile, rows: await session.perf.countIndices(tile, session.call) }], options.json);
          }),
      }),
      write: command({
        what: 'write the index of a tile anew, from its traces',
        options: { ...TILE },
        help: '\nExamples:\n  $ spanline perf indices write -s ./perf --tile 3',
        run: (options) =>
          withPerf(options, async (session) =>
            printWritten([await write(session, await tileFor(session, options.tile))], options.json),
          ),
      }),
      'write-all': command({
        what: 'write the index of all tiles anew',
        options: { ...STORE },
        help: '\nExamples:\n  $ spanline perf indices write-all -s ./perf',
        run: (options) =>
          withPerf(options, async (session) => {
            const written: Written[] = [];
            for (const tile of await session.perf.tiles(session.call)) written.push(await write(session, tile));
            printWritten(written, options.json);
          }),
      }),
    },
  },

  config: {
    what: 'the config file of an instance',
    help: '\nExamples:\n  $ spanline perf config validate spanline-perf.json',
    commands: {
      validate: command({
        words: '<file>',
        what: 'check a config file and print every problem with its path',
        options: { json: JSON_OPTION },
        help: `
A config file: { "store": "./perf", "tileSize": 256, "directions": { "score": "up" },
                 "detection": { "detector": "e-divisive", "minimumEffect": 0.03 } }

Examples:
  $ spanline perf config validate spanline-perf.json

Exit codes: 0 good, 1 problems, 3 the file cannot be read.`,
        run: async (options, file: string) => {
          const problems = await configProblems(await readDocument(file));
          const lines = problems.map(({ path, reason }) => `${file}: ${escapeText(`${path || '/'} ${reason}`)}\n`);
          const text = problems.length === 0 ? `${file}: good\n` : lines.join('');
          printAnswer(options.json, { file, valid: problems.length === 0, problems }, text);
          if (problems.length > 0) endWith(ExitCode.findings);
        },
      }),
    },
  },
} satisfies Commands;
