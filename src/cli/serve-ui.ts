// The local page for traces, profiles and history. It runs until it is told to stop. Of an archive it only reads; stores change
// when somebody triages on the page.
import { stat } from 'node:fs/promises';
import { Archive } from '../archive/archive.js';
import { GOLD_SCHEMA, GoldStore, openTable, PERF_SCHEMA, PerfStore, type WideColumnTable } from '../tracedb/index.js';
import { openBrowser } from '../ui/open-browser.js';
import type { UiSources } from '../ui/sources.js';
import { createUiServer } from '../ui/ui-server.js';
import { checkDirectory } from './archive-session.js';
import { CommandError, ExitCode } from './exit-code.js';
import { toldToStop } from './interrupt.js';
import { note, printAnswer } from './output.js';
import { version } from './package.js';

export interface UiOptions {
  readonly archive?: string;
  readonly store?: string;
  readonly goldStore?: string;
  readonly profiles?: string;
  readonly host: string;
  readonly port: number;
  readonly token?: string;
  readonly allowHost: readonly string[];
  readonly open: boolean;
  readonly json?: boolean;
}

/** An option, or what the environment says in its place; an empty text is none. */
const given = (value: string | undefined, variable: string): string | undefined =>
  (value ?? process.env[variable]) || undefined;

/** What was opened, to be closed in the end. */
type Opened = { close(): Promise<void> }[];

const openStore = async <Store>(
  location: string | undefined,
  schema: typeof PERF_SCHEMA,
  open: (table: WideColumnTable) => Promise<Store>,
  opened: Opened,
): Promise<Store | undefined> => {
  if (location === undefined) return undefined;
  const table = await openTable(location, schema);
  opened.push(table);
  return open(table);
};

const openArchive = async (directory: string | undefined, opened: Opened): Promise<Archive | undefined> => {
  if (directory === undefined) return undefined;
  await checkDirectory(directory);
  const archive = await Archive.open(directory, { readOnly: true });
  opened.push(archive);
  return archive;
};

const checkProfiles = async (directory: string | undefined): Promise<void> => {
  if (directory === undefined || (await stat(directory).catch(() => undefined))?.isDirectory()) return;
  throw new CommandError('ERR_SPANLINE_NOT_FOUND', `${directory} is no directory of profiles`, ExitCode.store);
};

const openSources = async (options: UiOptions, opened: Opened): Promise<UiSources> => {
  await checkProfiles(options.profiles);
  return {
    archive: await openArchive(given(options.archive, 'SPANLINE_ARCHIVE'), opened),
    perf: await openStore(
      given(options.store, 'SPANLINE_PERF_STORE'),
      PERF_SCHEMA,
      (table) => PerfStore.open(table),
      opened,
    ),
    gold: await openStore(
      given(options.goldStore, 'SPANLINE_GOLD_STORE'),
      GOLD_SCHEMA,
      (table) => GoldStore.open(table),
      opened,
    ),
    profiles: options.profiles,
  };
};

/** Serves the page until it is told to stop. */
export const serveUi = async (options: UiOptions): Promise<void> => {
  const { host, port, allowHost, open, json } = options;
  const token = given(options.token, 'SPANLINE_TOKEN');
  const stop = toldToStop();
  const opened: Opened = [];
  try {
    const sources = await openSources(options, opened);
    const server = await createUiServer(sources, { host, port, token, allowedHosts: allowHost, version });
    // The part behind # stays in the browser: no log of a server or a proxy sees the token.
    const url = `${server.url}/ui${token === undefined ? '' : `#token=${token}`}`;
    printAnswer(json, { url }, `${url}\n`);
    if (open && process.stdout.isTTY) openBrowser(url);
    await stop;
    note('stopping');
    await server.close();
  } finally {
    for (const one of opened.reverse()) await one.close();
  }
};
