// The groups of commands: what is said of each, and the files of its commands, each of which is loaded when the command line names it: what all of them
// need takes three times as long to load as Node itself. Where no single one is named, as for help or a mistyped name, all must be there. Nothing
// runs here.
import type { Command } from 'commander';
import { addCommand, type CommandRow, type Commands, command } from './command.js';
import { numberFrom, wholeNumber } from './options.js';

type Group = CommandRow & {
  /** The files of its commands, by their names. */
  readonly files?: Readonly<Record<string, () => Promise<{ readonly commands: Commands }>>>;
};

export const GROUPS = {
  trace: {
    what: 'finished traces in an archive: list, search, show as a waterfall, export, import',
    help: `
An archive is a directory that ArchiveReporter, spanline serve or spanline trace import has written, or s3://bucket/prefix. Name it with --archive or
SPANLINE_ARCHIVE. Reading changes nothing in it, also while others write.

Examples:
  $ spanline trace ls --archive ./traces
  $ spanline trace search --archive ./traces --status error --from 1h
  $ spanline trace show --archive ./traces 4bf9

Exit codes: 0 done, 1 nothing found, 2 wrong usage, 3 the archive cannot be read.`,
    files: {
      ls: () => import('./trace/list-command.js'),
      search: () => import('./trace/list-command.js'),
      show: () => import('./trace/show-command.js'),
      export: () => import('./trace/export-command.js'),
      import: () => import('./trace/import-command.js'),
    },
  },
  archive: {
    what: 'archives of traces: their numbers, and the maintenance of those in buckets',
    help: `
An archive in a bucket, s3://bucket/prefix, is written by any number of services and spanline serve, and read by all commands that take --archive.
Credentials, region and endpoint are those of AWS's variables, files and providers.

Examples:
  $ spanline archive stats --archive ./traces
  $ spanline archive maintain s3://bucket/traces --keep-hours 168`,
    files: {
      maintain: () => import('./archive/commands.js'),
      stats: () => import('./archive/commands.js'),
    },
  },
  snapshot: {
    ...command({
      words: [['<pid>', 'process id', wholeNumber(1)]],
      what: 'the last minute of a process, as its flight recorder holds it',
      options: {
        out: ['-o, --out <file>', 'file to write (default: snapshot-PID.flight)'],
        timeout: ['--timeout <seconds>', 'wait for the process no longer than this', numberFrom(0.1, 3600), 30],
        port: ['--port <number>', 'port of the inspector, where it is not found', wholeNumber(1, 65_535)],
        json: ['--json', 'print what was written as JSON'],
      },
      run: async (options, pid: number) => (await import('./snapshot/snapshot-files.js')).saveSnapshot(pid, options),
    }),
    help: `
The process needs a flight recorder: SPANLINE_FLIGHT_RECORDER=60s,64MiB with spanline/register, or configure({ flightRecorder: {} }). SIGUSR1
opens its inspector; it is closed again at the end. The process writes the file itself.

Examples:
  $ spanline snapshot 4711 -o last.flight                  the last minute of a process that runs
  $ spanline snapshot show last.flight                     why it was taken, and the slowest traces
  $ spanline snapshot show last.flight --trace 4bf9        one of them as a waterfall
  $ spanline snapshot export last.flight --format perfetto -o last.perfetto-trace
  $ spanline snapshot recover /var/lib/shop/flight         what a process that was killed has left

Exit codes: 0 done, 2 wrong usage or the process has no recorder, 3 it does not answer or the file cannot be written.`,
    files: {
      show: () => import('./snapshot/show-commands.js'),
      export: () => import('./snapshot/export-command.js'),
      recover: () => import('./snapshot/show-commands.js'),
    },
  },
  perf: {
    what: 'values of benchmarks by commit: store, query, compare, find regressions',
    help: `
The store is a directory (LMDB) or bigtable://project/instance/table. Name it with --store, a --config file, or SPANLINE_PERF_STORE.

Examples:
  $ spanline perf ingest --store ./perf history.jsonl.gz
  $ spanline perf query --store ./perf 'test=~span' --explain
  $ spanline perf regressions --store ./perf --plot`,
    files: {
      init: () => import('./perf/store-commands.js'),
      ingest: () => import('./perf/ingest-command.js'),
      tiles: () => import('./perf/store-commands.js'),
      traces: () => import('./perf/traces-command.js'),
      query: () => import('./perf/query-command.js'),
      commits: () => import('./perf/store-commands.js'),
      indices: () => import('./perf/store-commands.js'),
      config: () => import('./perf/store-commands.js'),
      compare: () => import('./perf/compare-command.js'),
      regressions: () => import('./perf/regressions-command.js'),
    },
  },
  bench: {
    what: 'run benchmarks: keep their results by commit, gate changes, measure what tracing costs a service',
    help: `
Understood are tinybench, vitest bench, autocannon, hyperfine, spanline's own benchmarks, and a list of { name, value, unit }.

Examples:
  $ spanline bench run --file bench/history.jsonl -- node bench/encode.js
  $ spanline bench gate --base origin/main -- node bench/encode.js
  $ spanline bench compare -f bench/history.jsonl HEAD~1 HEAD
  $ spanline bench history -f bench/history.jsonl encode
  $ spanline bench overhead --url /api -- node server.js`,
    files: {
      run: () => import('./bench/run-command.js'),
      gate: () => import('./bench/gate-command.js'),
      compare: () => import('./bench/kept-commands.js'),
      history: () => import('./bench/kept-commands.js'),
      overhead: () => import('./bench/overhead/overhead-command.js'),
    },
  },
  gold: {
    what: 'digests of results by commit: store, triage, blame, search',
    help: `
The store is a directory (LMDB) or bigtable://project/instance/table. Name it with --store or SPANLINE_GOLD_STORE.

Examples:
  $ spanline gold put --store ./gold results.json
  $ spanline gold search --store ./gold
  $ spanline gold triage --store ./gold circle positive 0cc175b9c0f1b6a831c399e269772661`,
    files: {
      init: () => import('./gold/commands.js'),
      put: () => import('./gold/put-command.js'),
      tile: () => import('./gold/commands.js'),
      'dense-tile': () => import('./gold/commands.js'),
      triage: () => import('./gold/commands.js'),
      ignores: () => import('./gold/commands.js'),
      blame: () => import('./gold/commands.js'),
      search: () => import('./gold/commands.js'),
    },
  },
  profile: {
    what: 'CPU profiles whose samples know the query, trace or tenant they worked for',
    help: `
Examples:
  $ spanline profile run -- node app.js            profile a program from its start to its end
  $ spanline profile attach 4711 --seconds 30      profile a process that runs
  $ spanline profile top cpu.pb.gz --by query      CPU by query
  $ spanline profile diff old.pb.gz new.pb.gz --by query
  $ spanline profile export cpu.pb.gz --format speedscope --out cpu.speedscope.json

Samples bear the labels that the program gives with DynamicLabel of @spanline/profile.`,
    files: {
      run: () => import('./profile/run-command.js'),
      attach: () => import('./profile/attach-command.js'),
      top: () => import('./profile/table-commands.js'),
      diff: () => import('./profile/table-commands.js'),
      export: () => import('./profile/export-command.js'),
    },
  },
  graph: {
    what: 'compact graph files: build, look up, walk, check, salvage',
    help: `
A graph file holds nodes with keys, values and references to other nodes, and never changes. Commands that read take a path,
http://, https:// or s3://; verify and salvage take a path.

Examples:
  $ spanline graph build --from-git . -o commits.graph
  $ spanline graph ancestors commits.graph $(git rev-parse HEAD) --count
  $ spanline graph verify commits.graph

Exit codes: 0 done, 1 not found or damaged, 2 wrong usage, 3 a file cannot be read or written.`,
    files: {
      build: () => import('./graph/build-command.js'),
      info: () => import('./graph/read-commands.js'),
      get: () => import('./graph/read-commands.js'),
      ancestors: () => import('./graph/read-commands.js'),
      verify: () => import('./graph/check-commands.js'),
      salvage: () => import('./graph/check-commands.js'),
    },
  },
} as const satisfies Readonly<Record<string, Group>>;

/** The words of a command line that say which command is meant; undefined: the whole program is. */
type Words = readonly string[] | undefined;

/** Those of the arguments of a command line. `help perf` is about all of a group. */
export const wordsOf = (args: readonly string[]): readonly string[] => {
  const words = args.filter((word) => word !== '--');
  return words[0] === 'help' ? words.slice(1, 2) : words;
};

/** Adds a command, or a group with what the words need of it: none of its commands if they are about another. */
export const addNamed = async (
  program: Command,
  name: string,
  { files = {}, ...row }: Group,
  words: Words,
): Promise<void> => {
  const added = addCommand(program, name, row);
  const [meant, below = ''] = words ?? [name];
  if (meant !== name) return;
  for (const one of Object.hasOwn(files, below) ? [below] : Object.keys(files))
    addCommand(added, one, (await files[one]()).commands[one]);
};
