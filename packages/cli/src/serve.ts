// An archive over HTTP, to send traces to and to look at them with Jaeger's UI or Grafana. It runs until it is told to
// stop, and stops in order: what it has acknowledged stays.

import { Archive, type ArchiveOptions, type ArchiveServer, type ArchiveServerOptions } from '@spanline/archive';
import { ServerCounts, startArchiveServer } from '@spanline/archive/internal';
import { type UiSources, uiRoutes } from '@spanline/ui/internal';
import { archiveDirectory, noteDamage } from './archive-session.js';
import { ExitCode, endWith, stopRequested } from './exit-code.js';
import type { SourceOptions } from './options.js';
import { note, printAnswer } from './output.js';
import { version } from './package.js';
import { closeSources, given, type Opened, openSources, pageAddress } from './page-sources.js';

export interface ServeOptions extends SourceOptions {
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

const tokenOf = ({ token }: ServeOptions): string | undefined => given(token, 'SPANLINE_TOKEN');

const startServers = async (
  archive: Archive,
  sources: UiSources,
  options: ServeOptions,
  running: ArchiveServer[],
): Promise<void> => {
  const { host, allowHost, corsOrigin } = options;
  const counts = new ServerCounts();
  for (const wanted of wantedServers(options)) {
    const common = {
      archive,
      host,
      token: tokenOf(options),
      allowedHosts: allowHost,
      corsOrigins: corsOrigin,
    };
    const page = wanted.endpoints === 'ingest' ? [] : uiRoutes(sources, version, false);
    running.push(await startArchiveServer({ ...common, ...wanted }, page, counts));
  }
};

const announce = (directory: string, running: readonly ArchiveServer[], options: ServeOptions): void => {
  const { json, readOnly, otlpPort } = options;
  const query = running[0].url;
  const page = pageAddress(query, tokenOf(options));
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
const reportDamage = async (archive: Archive, reported: Set<string>): Promise<void> => {
  const { damaged } = await archive.stats();
  const fresh = damaged.filter(({ file }) => !reported.has(file));
  for (const { file } of fresh) reported.add(file);
  noteDamage(fresh);
};

/** Serves until it is told to stop. */
export const serve = async (options: ServeOptions): Promise<void> => {
  const directory = archiveDirectory(options);
  const { readOnly, keepHours, keepMib } = options;
  const retention: ArchiveOptions = {
    maxAgeMs: keepHours === undefined ? undefined : keepHours * 3_600_000,
    maxBytes: keepMib === undefined ? undefined : keepMib * 1024 * 1024,
  };
  const stop = stopRequested();
  const running: ArchiveServer[] = [];
  const opened: Opened = [];
  try {
    const sources = await openSources(options, opened);
    const archive = await Archive.open(directory, { readOnly, ...retention });
    opened.push(archive);
    await startServers(archive, { ...sources, archive }, options, running);
    announce(directory, running, options);
    const reported = new Set<string>();
    await reportDamage(archive, reported);
    const timer = setInterval(() => void reportDamage(archive, reported).catch(() => {}), DAMAGE_MS).unref();
    await stop;
    clearInterval(timer);
    note('stopping');
    await reportDamage(archive, reported);
    // Its answers were incomplete.
    if (reported.size > 0) endWith(ExitCode.store);
  } finally {
    await Promise.all(running.map((server) => server.close()));
    await closeSources(opened);
  }
  const { spans, spansInvalid, spansRefused } = running[0].stats().otlp;
  note(`stopped; spans taken: ${spans}, invalid: ${spansInvalid}, refused: ${spansRefused}`);
};
