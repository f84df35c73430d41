// The options of `spanline serve` and `spanline ui`, which show the same beside an archive. They stand apart from what serves, for the help of the whole
// program needs them: they must need nothing of the library.
import { InvalidArgumentError } from 'commander';
import { options, type Values } from './command.js';
import { collect, wholeNumber } from './options.js';

/** Services whose metrics are read each second. */
const MAX_METRICS = 16;

const metricsAddress = (text: string, before: readonly string[]): readonly string[] => {
  if (!/^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : ''))
    throw new InvalidArgumentError('write an address such as http://localhost:9464/metrics.');
  if (before.length === MAX_METRICS) throw new InvalidArgumentError(`at most ${MAX_METRICS} services are read.`);
  return [...before, text];
};

/** What the page shows beside an archive. */
const SOURCES = options({
  metrics: [
    '--metrics <url>',
    'metrics of a running service, where Prometheus reads them; repeatable',
    metricsAddress,
    [],
  ],
  store: ['-s, --store <place>', 'Perf store: directory or bigtable://project/instance/table (or SPANLINE_PERF_STORE)'],
  history: ['--history <path>', 'history file of spanline bench run, or a directory of such files'],
  goldStore: ['--gold-store <place>', 'Gold store, named in the same way (or SPANLINE_GOLD_STORE)'],
  profiles: ['--profiles <dir>', 'directory of profiles, as spanline profile writes them'],
});

export type SourceOptions = Values<typeof SOURCES>;

const HOST = [
  '--host <address>',
  'address to listen on; any but 127.0.0.1 and ::1 needs a token',
  undefined,
  '127.0.0.1',
] as const;
const ALLOW_HOST = [
  '--allow-host <name>',
  'a further name requests may use for this machine; repeatable',
  collect,
  [],
] as const;

const portOrOff = (text: string): number | 'off' => {
  if (text === 'off') return 'off';
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('write a port from 0 to 65535, or off.');
};

export const SERVE = options({
  archive: [
    '-a, --archive <place>',
    'directory of the archive, made when it is not there, or s3://bucket/prefix (or SPANLINE_ARCHIVE)',
  ],
  ...SOURCES,
  spool: [
    '--spool <dir>',
    'of an archive in a bucket: where spans wait until they are there, of this process alone (default: a directory of its own in SPANLINE_SPOOL or spanline-spool)',
  ],
  maintain: ['--maintain', 'of an archive in a bucket: merge and delete there too'],
  host: HOST,
  port: [
    '-p, --port <number>',
    'port of the query API, takes spans too; 0 for a free one',
    wholeNumber(0, 65_535),
    16_686,
  ],
  otlpPort: [
    '--otlp-port <number>',
    'further port for spans, where OTLP/HTTP is looked for; off takes none anywhere',
    portOrOff,
    4318,
  ],
  token: ['--token <token>', 'what requests must bring as "Authorization: Bearer ..."; better as SPANLINE_TOKEN'],
  allowHost: ALLOW_HOST,
  corsOrigin: ['--cors-origin <origin>', 'web pages of this origin may read; repeatable', collect, []],
  readOnly: ['--read-only', 'take no spans and change nothing in the directory'],
  keepHours: ['--keep-hours <hours>', 'delete traces that ended longer ago', wholeNumber(1)],
  keepMib: ['--keep-mib <mebibytes>', 'delete the oldest traces beyond so much', wholeNumber(1)],
  json: ['--json', 'print where it listens as JSON'],
});

export type ServeOptions = Values<typeof SERVE>;

export const UI = options({
  archive: [
    '-a, --archive <place>',
    'directory of an archive of traces, there or to come, or s3://bucket/prefix (or SPANLINE_ARCHIVE)',
  ],
  ...SOURCES,
  snapshot: ['--snapshot <file>', 'a snapshot of a flight recorder to look at; repeatable', collect, []],
  snapshots: ['--snapshots <dir>', 'where snapshots taken on the page are kept (default: a temporary directory)'],
  host: HOST,
  port: ['-p, --port <number>', 'port; 0 for a free one', wholeNumber(0, 65_535), 0],
  token: [
    '--token <token>',
    'what the page must know to read; better as SPANLINE_TOKEN; without it a random one, to take snapshots alone',
  ],
  allowHost: ALLOW_HOST,
  open: ['--no-open', 'do not open the browser'],
  json: ['--json', 'print where it listens as JSON'],
});

export type UiOptions = Values<typeof UI>;
