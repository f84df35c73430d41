// An archive over HTTP, to send traces to and to look at them with Jaeger's UI or Grafana, and the local page, for `spanline serve` and `spanline
// ui`, with what the page shows beside an archive: stores, profiles, history, snapshots. Both run until a signal stops them, and stop in order:
// what was acknowledged stays. Of an archive the page only reads; stores change when somebody triages on it. A mistyped name must be refused, never
// become an empty store, and a file that is not a snapshot before the page is served.
import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Archive, type ArchiveOptions, type ArchiveServer, type ArchiveServerOptions } from '@spanline/archive';
import { ServerCounts, startArchiveServer } from '@spanline/archive/internal';
import { GoldStore, PerfStore, type WideColumnTable } from '@spanline/tracedb';
import { createUiServer, openBrowser, SnapshotStore, type UiSources, uiRoutes } from '@spanline/ui/internal';
import { isBucket } from 'spanline/internal/base';
import { archiveDirectory, checkDirectory, noteDamage, spoolOf } from './archive-session.js';
import { ExitCode, endWith, failed, stopRequested, wrongUsage } from './exit-code.js';
import { note, printAnswer } from './output.js';
import { version } from './package.js';
import type { ServeOptions, SourceOptions, UiOptions } from './serve-options.js';
import { snapshotIn } from './snapshot/snapshot-files.js';
import { openStore, type StoreKind } from './store-session.js';

/** What was opened, to be closed in the end, the last first. */
export type Opened = { close(): Promise<void> }[];

/** An option, or what the environment says in its place; an empty text is none. */
export const given = (value: string | undefined, variable: string): string | undefined =>
  (value ?? process.env[variable]) || undefined;

const openedStore = async <Store>(
  kind: StoreKind,
  location: string | undefined,
  Kind: { open(table: WideColumnTable): Promise<Store> },
  opened: Opened,
): Promise<Store | undefined> => {
  if (location === undefined) return undefined;
  const table = await openStore(kind, location);
  opened.push(table);
  return Kind.open(table);
};

/** Fails with `message` where a path that was given is not there, or not what it should be. */
const checkPath = async (
  path: string | undefined,
  isRight: (found: Stats | undefined) => boolean,
  message: string,
): Promise<void> => {
  if (path === undefined || isRight(await stat(path).catch(() => undefined))) return;
  throw failed('ERR_SPANLINE_NOT_FOUND', message);
};

/** Opens what the options name and adds it to `opened`, also where a later one fails. */
export const openSources = async (
  { metrics, store, goldStore, profiles, history }: SourceOptions,
  opened: Opened,
): Promise<Omit<UiSources, 'archive'>> => {
  await checkPath(profiles, (found) => found?.isDirectory() === true, `${profiles} is not a directory of profiles`);
  const noHistory = `there is no history in ${history}; spanline bench run --file makes one`;
  await checkPath(history, (found) => found !== undefined, noHistory);
  return {
    metrics,
    history,
    perf: await openedStore('perf', given(store, 'SPANLINE_PERF_STORE'), PerfStore, opened),
    gold: await openedStore('gold', given(goldStore, 'SPANLINE_GOLD_STORE'), GoldStore, opened),
    profiles,
  };
};

/** Closes what was opened. */
export const closeSources = async (opened: Opened): Promise<void> => {
  for (const one of opened.reverse()) await one.close();
};

/** The address of the page. The part behind # stays in the browser: no log of a server or a proxy sees the token. */
export const pageAddress = (server: string, token: string | undefined): string =>
  `${server}/ui${token === undefined ? '' : `#token=${encodeURIComponent(token)}`}`;

/** The store of the page; whoever opens it closes it. */
export const openSnapshotStore = async (
  { snapshot, snapshots }: UiOptions,
  token: string | undefined,
): Promise<SnapshotStore> => {
  for (const file of snapshot) await snapshotIn(file);
  await checkPath(snapshots, (found) => found?.isDirectory() !== false, `${snapshots} is not a directory`);
  return new SnapshotStore({ directory: snapshots, files: snapshot, token });
};

/** The page may be there before the program that makes the archive. */
const openArchive = async (directory: string | undefined, opened: Opened): Promise<Archive | undefined> => {
  if (directory === undefined) return undefined;
  const isThere = isBucket(directory) || (await stat(directory).catch(() => undefined)) !== undefined;
  if (isThere) await checkDirectory(directory);
  else note(`there is no archive in ${directory} yet: the page waits for the program that makes it`);
  const archive = await Archive.open(directory, { readOnly: true, mayBeMissing: true });
  opened.push(archive);
  return archive;
};

/** Serves the page until a signal stops it. */
export const serveUi = async (options: UiOptions): Promise<void> => {
  const { host, port, allowHost, open, json } = options;
  const token = given(options.token, 'SPANLINE_TOKEN');
  const stop = stopRequested();
  const opened: Opened = [];
  try {
    const sources = {
      ...(await openSources(options, opened)),
      archive: await openArchive(given(options.archive, 'SPANLINE_ARCHIVE'), opened),
      snapshots: await openSnapshotStore(options, token),
    };
    opened.push(sources.snapshots);
    const server = await createUiServer(sources, { host, port, token, allowedHosts: allowHost, version });
    // Without a token of the user's: the one that only taking a snapshot needs.
    const url = pageAddress(server.url, sources.snapshots.token);
    printAnswer(json, { url }, `${url}\n`);
    if (open && process.stdout.isTTY) openBrowser(url);
    await stop;
    note('stopping');
    await server.close();
  } finally {
    await closeSources(opened);
  }
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
  const damaged = await archive.damaged();
  const fresh = damaged.filter(({ file }) => !reported.has(file));
  for (const { file } of fresh) reported.add(file);
  noteDamage(fresh);
};

/** Options that mean nothing for such an archive are refused: somebody would rely on them. */
const checkServed = (place: string, { spool, maintain, readOnly, keepHours, keepMib }: ServeOptions): void => {
  if (!isBucket(place)) {
    if (spool !== undefined) throw wrongUsage('--spool is for an archive in a bucket: --archive s3://bucket/prefix');
    if (maintain)
      throw wrongUsage('--maintain is for an archive in a bucket; a directory is maintained by whoever writes');
    return;
  }
  if (readOnly && (spool !== undefined || maintain))
    throw wrongUsage('--read-only goes with neither --spool nor --maintain');
  if (!maintain && (keepHours !== undefined || keepMib !== undefined))
    throw wrongUsage('--keep-hours and --keep-mib of an archive in a bucket need --maintain');
};

/** Serves until a signal stops it. */
export const serve = async (options: ServeOptions): Promise<void> => {
  const directory = archiveDirectory(options);
  const { readOnly, keepHours, keepMib } = options;
  checkServed(directory, options);
  const retention: ArchiveOptions = {
    maxAgeMs: keepHours === undefined ? undefined : keepHours * 3_600_000,
    maxBytes: keepMib === undefined ? undefined : keepMib * 1024 * 1024,
  };
  const stop = stopRequested();
  const running: ArchiveServer[] = [];
  const opened: Opened = [];
  let said = '';
  const onNotice = (line: string): void => {
    said = line;
    note(line);
  };
  let served: Archive | undefined;
  try {
    const sources = await openSources(options, opened);
    const maintain = isBucket(directory) ? { maintain: options.maintain === true } : {};
    const spool = readOnly ? {} : spoolOf(directory, options.spool);
    const archive = await Archive.open(directory, { readOnly, onNotice, ...retention, ...maintain, ...spool });
    opened.push(archive);
    served = archive;
    await startServers(archive, { ...sources, archive }, options, running);
    announce(directory, running, options);
    const reported = new Set<string>();
    await reportDamage(archive, reported);
    const timer = setInterval(() => {
      void reportDamage(archive, reported).catch(() => {});
    }, DAMAGE_MS).unref();
    await stop;
    clearInterval(timer);
    note('stopping');
    await reportDamage(archive, reported);
    // Its answers were incomplete.
    if (reported.size > 0) endWith(ExitCode.store);
  } finally {
    await Promise.all(running.map((server) => server.close()));
    await closeSources(opened);
    // It tried once more when it was closed.
    for (const trouble of served?.troubles() ?? []) if (trouble !== said) note(trouble);
  }
  const { spans, spansInvalid, spansRefused } = running[0].stats().otlp;
  note(`stopped; spans taken: ${spans}, invalid: ${spansInvalid}, refused: ${spansRefused}`);
};
