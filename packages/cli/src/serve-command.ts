// `spanline serve`: what is said of the server. Nothing runs here.
import { type Command, InvalidArgumentError } from 'commander';
import { collect, wholeNumber, withSources } from './options.js';
import type { ServeOptions } from './serve.js';

const portOrOff = (text: string): number | 'off' => {
  if (text === 'off') return 'off';
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('write a port from 0 to 65535, or off.');
};

/** Register the command. */
export const registerServe = (program: Command): void => {
  withSources(
    program
      .command('serve')
      .description('serve an archive of traces: a Jaeger query API to read, OTLP/HTTP to send to')
      .option('-a, --archive <dir>', 'directory of the archive, made when it is not there (or SPANLINE_ARCHIVE)'),
  )
    .option('--host <address>', 'address to listen on; any but 127.0.0.1 and ::1 needs a token', '127.0.0.1')
    .option(
      '-p, --port <number>',
      'port of the query API, takes spans too; 0 for a free one',
      wholeNumber(0, 65_535),
      16_686,
    )
    .option(
      '--otlp-port <number>',
      'further port for spans, where OTLP/HTTP is looked for; off takes none anywhere',
      portOrOff,
      4318,
    )
    .option('--token <token>', 'what requests must bring as "Authorization: Bearer ..."; better as SPANLINE_TOKEN')
    .option('--allow-host <name>', 'a further name requests may use for this machine; repeatable', collect, [])
    .option('--cors-origin <origin>', 'web pages of this origin may read; repeatable', collect, [])
    .option('--read-only', 'take no spans and change nothing in the directory')
    .option('--keep-hours <hours>', 'delete traces that ended longer ago', wholeNumber(1))
    .option('--keep-mib <mebibytes>', 'delete the oldest traces beyond so much', wholeNumber(1))
    .option('--json', 'print where it listens as JSON')
    .addHelpText(
      'after',
      `
The page of spanline ui is there too, under /ui; its address is printed, with the token where there is one. It shows what
--store, --history, --gold-store and --profiles name beside the archive.

It speaks plain HTTP: put a proxy with TLS before it where others can listen to the network.
Ctrl-C ends it in order; what was acknowledged is on the disk.

Examples:
  $ spanline serve --archive ./traces
  $ OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf node app.js
  $ curl 'http://localhost:16686/api/v3/services'
  $ curl 'http://localhost:16686/stats'
  $ SPANLINE_TOKEN=$(openssl rand -hex 16) spanline serve --archive ./traces --host 0.0.0.0

Grafana: add a Jaeger data source with the URL http://localhost:16686.

Exit codes: 0 stopped, 2 wrong usage, 3 the archive, a source or the port cannot be used, or a part of the archive could not be read.`,
    )
    .action(async (options: ServeOptions) => (await import('./serve.js')).serve(options));
};
