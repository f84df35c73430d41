// `spanline serve`: an archive over HTTP, to send traces to and to look at them with Jaeger's UI or Grafana. It runs until it is told to
// stop, and stops in order: what it has acknowledged stays.
import { createRequire } from 'node:module';
import { type Command, InvalidArgumentError } from 'commander';
import { Archive } from '../archive/archive.js';
import type { ArchiveOptions } from '../archive/archive-options.js';
import { type ArchiveServer, startArchiveServer } from '../archive/server/archive-server.js';
import type { ArchiveServerOptions } from '../archive/server/server-options.js';
import { uiRoutes } from '../ui/ui-routes.js';
import { archiveDirectory, noteDamage } from './archive-session.js';
import { ExitCode, endWith } from './exit-code.js';
import { toldToStop } from './interrupt.js';
import { collect, wholeNumber } from './options.js';
import { note, printAnswer } from './output.js';

const { version } = createRequire(import.meta.url)('spanline/package.json') as { version: string };

interface ServeOptions {
  readonly archive?: string;
  readonly host: string;
  readonly port: number;
  readonly otlpPort: number | 'off';
  readonly token?: string;
  readonly allowHost: readonly string[];
  readonly corsOrigin: readonly string[];
  readonly readOnly?: boolean;
  readonly keepHours?: number;
  readonly keepMib?: number;
  readonly json?: boolean;
}

const portOrOff = (text: string): number | 'off' => {
  if (text === 'off') return 'off';
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('write a port from 0 to 65535, or off.');
};

/** The main port takes spans too; those that look for OTLP's own port find it there. A read-only archive takes nothing. */
const wantedServers = ({
  port,
  otlpPort,
  readOnly,
}: ServeOptions): Pick<ArchiveServerOptions, 'port' | 'endpoints'>[] => {
  if (readOnly || otlpPort === 'off') return [{ port, endpoints: 'query' }];
  const main = { port, endpoints: 'all' } as const;
  return otlpPort === port && port !== 0 ? [main] : [main, { port: otlpPort, endpoints: 'ingest' }];
};

const startServers = async (archive: Archive, options: ServeOptions, running: ArchiveServer[]): Promise<void> => {
  const { host, allowHost, corsOrigin } = options;
  const token = options.token ?? process.env.SPANLINE_TOKEN;
  for (const wanted of wantedServers(options)) {
    const common = {
      archive,
      host,
      token: token === '' ? undefined : token,
      allowedHosts: allowHost,
      corsOrigins: corsOrigin,
    };
    const page = wanted.endpoints === 'ingest' ? [] : uiRoutes({ archive }, version, false);
    running.push(await startArchiveServer({ ...common, ...wanted }, page));
  }
};

const announce = (
  directory: string,
  running: readonly ArchiveServer[],
  { json, readOnly, otlpPort }: ServeOptions,
): void => {
  const query = running[0].url;
  const page = `${query}/ui`;
  const otlp = readOnly || otlpPort === 'off' ? undefined : `${(running[1] ?? running[0]).url}/v1/traces`;
  const lines = [
    `archive      ${directory}`,
    `Jaeger API   ${query}`,
    `page         ${page}`,
    ...(otlp === undefined ? [] : [`OTLP/HTTP    ${otlp}`]),
  ];
  printAnswer(json, { archive: directory, query, page, otlp }, `${lines.join('\n')}\n`);
};

/** Milliseconds between checks for unreadable files. */
const DAMAGE_MS = 10_000;

/** Names each unreadable file once; queries report them too. */
const tellOfDamage = async (archive: Archive, told: Set<string>): Promise<void> => {
  const { damaged } = await archive.stats();
  const fresh = damaged.filter(({ file }) => !told.has(file));
  for (const { file } of fresh) told.add(file);
  noteDamage(fresh);
};

const run = async (options: ServeOptions): Promise<void> => {
  const directory = archiveDirectory(options);
  const { readOnly, keepHours, keepMib } = options;
  const retention: ArchiveOptions = {
    maxAgeMs: keepHours === undefined ? undefined : keepHours * 3_600_000,
    maxBytes: keepMib === undefined ? undefined : keepMib * 1024 * 1024,
  };
  const stop = toldToStop();
  const running: ArchiveServer[] = [];
  const archive = await Archive.open(directory, { readOnly, ...retention });
  try {
    await startServers(archive, options, running);
    announce(directory, running, options);
    const told = new Set<string>();
    await tellOfDamage(archive, told);
    const timer = setInterval(() => void tellOfDamage(archive, told).catch(() => {}), DAMAGE_MS).unref();
    await stop;
    clearInterval(timer);
    note('stopping');
    await tellOfDamage(archive, told);
    // Its answers were incomplete.
    if (told.size > 0) endWith(ExitCode.store);
  } finally {
    await Promise.all(running.map((server) => server.close()));
    await archive.close();
  }
  const sum = (count: 'spans' | 'spansInvalid' | 'spansRefused'): number =>
    running.reduce((total, server) => total + server.stats().otlp[count], 0);
  note(`stopped; spans taken: ${sum('spans')}, invalid: ${sum('spansInvalid')}, refused: ${sum('spansRefused')}`);
};

/** Register the command. */
export const registerServe = (program: Command): void => {
  program
    .command('serve')
    .description('serve an archive of traces: a Jaeger query API to read, OTLP/HTTP to send to')
    .option('-a, --archive <dir>', 'directory of the archive, made when it is not there (or SPANLINE_ARCHIVE)')
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
The page of spanline ui is there too, under /ui; with a token open it as /ui#token=TOKEN.

It speaks plain HTTP: put a proxy with TLS before it where others can listen to the network.
Ctrl-C ends it in order; what was acknowledged is on the disk.

Examples:
  $ spanline serve --archive ./traces
  $ OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf node app.js
  $ curl 'http://localhost:16686/api/v3/services'
  $ curl 'http://localhost:16686/stats'
  $ SPANLINE_TOKEN=$(openssl rand -hex 16) spanline serve --archive ./traces --host 0.0.0.0

Grafana: add a Jaeger data source with the URL http://localhost:16686.

Exit codes: 0 stopped, 2 wrong usage, 3 the archive or the port cannot be used, or a part of the archive could not be read.`,
    )
    .action(run);
};
