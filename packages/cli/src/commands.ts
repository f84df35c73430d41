// The commands directly under `spanline`: what is said of each. Nothing runs here: a command imports what it needs in its action.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isBucket } from 'spanline/internal/base';
import { type Commands, command, options, type Values } from './command.js';
import { READ_ARCHIVE, wholeNumber } from './options.js';
import { note } from './output.js';
import { SERVE, UI } from './serve-options.js';
import { endTime, time } from './trace/search-options.js';

const RUN = options({
  archive: [
    '-a, --archive <place>',
    'keep the traces in this directory or s3://bucket/prefix, and who had the event loop (or SPANLINE_ARCHIVE)',
  ],
  spool: [
    '--spool <dir>',
    'where spans wait until they are in a bucket, each process in a directory of its own (or SPANLINE_SPOOL; default: spanline-spool)',
  ],
  service: ['-s, --service <name>', 'name of the service (or OTEL_SERVICE_NAME)'],
  exporter: [
    '-e, --exporter <names>',
    'otlp, jaeger, console or none, with commas between (or OTEL_TRACES_EXPORTER; default: otlp, with --archive none)',
  ],
});

type RunOptions = Values<typeof RUN>;

/** What the options say in OpenTelemetry's words; the environment stands where an option is missing. */
const variablesOf = ({ archive, spool, service, exporter }: RunOptions): NodeJS.ProcessEnv => ({
  ...(archive !== undefined && { SPANLINE_ARCHIVE: isBucket(archive) ? archive : resolve(archive) }),
  ...(spool !== undefined && { SPANLINE_SPOOL: resolve(spool) }),
  ...(service !== undefined && { OTEL_SERVICE_NAME: service }),
  ...(exporter !== undefined && { OTEL_TRACES_EXPORTER: exporter }),
});

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1000;

export const commands = {
  clock: command({
    what: 'show the clock: source, frequency, per-core offsets, drift, cost of a reading',
    options: { json: ['--json', 'print one JSON object'], measure: ['--measure', ''] },
    help: '\nExamples:\n  $ spanline clock\n  $ spanline clock --json\n  $ SPANLINE_CLOCK=monotonic spanline clock',
    run: async (options) => (await import('./clock-report.js')).reportClock(options),
  }),

  run: command({
    words: [['<command...>', 'program and its arguments, after --']],
    what: 'run a service with tracing, unchanged',
    options: RUN,
    help: `
Every Node process that the program starts is traced, as by node --import spanline/register. OpenTelemetry's environment variables say the
rest. Node 22 is asked to keep context frames, as Node 24 does (not with SPANLINE_CONTEXT=als). The exit code is that of the program.

Examples:
  $ spanline run --archive ./traces -- node app.js     then: spanline trace ls -a ./traces, spanline stalls -a ./traces
  $ spanline run -e console -- node app.js
  $ OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318 spanline run -s shop -- npm start

Exit codes: those of the program; 2 wrong usage, 3 it could not be started.`,
    run: async (options, command: string[]) => {
      const { ownManifest, registerUrl, runProgram, withFrames, withPreload } = await import('./run-program.js');
      // Beside it register finds what it takes when it is there, of the same version: the program may have none of it, or another one.
      const variables = { ...variablesOf(options), SPANLINE_RUN: ownManifest };
      const environment = withFrames(withPreload(registerUrl(), variables), command);
      process.exitCode = await runProgram(command, environment);
      const { SPANLINE_ARCHIVE: directory } = environment;
      if (!directory) return;
      if (isBucket(directory)) note(`traces go to ${directory}; see: spanline trace ls -a ${directory}`);
      else if (existsSync(directory)) note(`traces are in ${directory}; see: spanline trace ls -a ${directory}`);
      else note(`no Node process of ${command[0]} kept a trace in ${directory}`);
    },
  }),

  stalls: command({
    words: '[file]',
    what: 'the worst stalls of the event loop, of a snapshot or of an archive: who had it, and who waited',
    options: {
      ...READ_ARCHIVE,
      limit: ['-n, --limit <stalls>', 'no more than this', wholeNumber(1, MAX_LIMIT), DEFAULT_LIMIT],
      from: ['--from <time>', 'stalls that were not over before: 2026-01-31T12:00:00Z, or 15m for as long ago', time],
      to: ['--to <time>', 'stalls that had begun by then; a day means all of it', endTime],
      json: ['--json', 'print JSON, one object a line'],
    },
    help: `
The longest first. "untraced" is work that no span covers, "unknown" is time of which nothing is known but that the loop was busy. A full
thread pool is listed as well: requests of files, names, crypto and compression had to wait for a thread.
A trace waited while it had a span open and others had the loop. --json prints times in microseconds. NO_COLOR=1 turns colours off.

Examples:
  $ spanline stalls last.flight
  $ spanline stalls -a ./traces
  $ spanline stalls -a ./traces --from 15m --limit 3
  $ spanline stalls -a ./traces --json | jq '.holders[0].name'

Exit codes: 0 found, 1 there was no stall or no timeline was kept, 2 wrong usage, 3 the archive, a part of it or the file cannot be read.`,
    run: async (options, file: string | undefined) => (await import('./print-stalls.js')).printStalls(file, options),
  }),

  serve: command({
    what: 'serve an archive of traces: a Jaeger query API to read, OTLP/HTTP to send to',
    options: SERVE,
    help: `
The page of spanline ui is there too, under /ui; its address is printed, with the token where there is one. It shows what
--metrics, --store, --history, --gold-store and --profiles name beside the archive.

It speaks plain HTTP: put a proxy with TLS before it where others can listen to the network.
Ctrl-C ends it in order; what was acknowledged is on the disk.

Examples:
  $ spanline serve --archive ./traces
  $ OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf node app.js
  $ curl 'http://localhost:16686/api/v3/services'
  $ curl 'http://localhost:16686/stats'
  $ spanline serve --archive s3://bucket/traces --spool ./spool --maintain --keep-hours 168
  $ SPANLINE_TOKEN=$(openssl rand -hex 16) spanline serve --archive ./traces --host 0.0.0.0

Grafana: add a Jaeger data source with the URL http://localhost:16686.

Exit codes: 0 stopped, 2 wrong usage, 3 the archive, a source or the port cannot be used, or a part of the archive could not be read.`,
    run: async (options) => (await import('./serve.js')).serve(options),
  }),

  ui: command({
    what: 'a local page to look at traces, profiles and the history of benchmarks',
    options: UI,
    help: `
The page loads nothing from elsewhere and sends nothing anywhere. In a pipe no browser is opened.
To take snapshots of processes, open the page by the whole address that is printed: the token is behind its #.

Examples:
  $ spanline ui --archive ./traces
  $ spanline ui --archive ./traces --profiles ./profiles --store ./perf
  $ spanline ui --metrics http://localhost:9464/metrics
  $ spanline ui --history bench/history
  $ spanline ui --archive ./traces --no-open --port 8080
  $ spanline ui --snapshot last.flight

Exit codes: 0 stopped, 2 wrong usage, 3 a source or the port cannot be used.`,
    run: async (options) => (await import('./serve.js')).serveUi(options),
  }),
} satisfies Commands;
