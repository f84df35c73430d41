// The local page for traces, profiles and history. It runs until it is told to stop. Of an archive it only reads; stores change
// when somebody triages on the page.
import { stat } from 'node:fs/promises';
import { Archive } from '@spanline/archive';
import { createUiServer, openBrowser } from '@spanline/ui/internal';
import { checkDirectory } from './archive-session.js';
import { stopRequested } from './exit-code.js';
import type { SourceOptions } from './options.js';
import { note, printAnswer } from './output.js';
import { version } from './package.js';
import {
  closeSources,
  given,
  type Opened,
  openSnapshotStore,
  openSources,
  pageAddress,
  type SnapshotOptions,
} from './page-sources.js';

export interface UiOptions extends SourceOptions, SnapshotOptions {
  readonly archive?: string;
  readonly host: string;
  readonly port: number;
  readonly token?: string;
  readonly allowHost: readonly string[];
  readonly open: boolean;
  readonly json?: boolean;
}

/** The page may be there before the program that makes the archive. */
const openArchive = async (directory: string | undefined, opened: Opened): Promise<Archive | undefined> => {
  if (directory === undefined) return undefined;
  const isThere = (await stat(directory).catch(() => undefined)) !== undefined;
  if (isThere) await checkDirectory(directory);
  else note(`there is no archive in ${directory} yet: the page waits for the program that makes it`);
  const archive = await Archive.open(directory, { readOnly: true, mayBeMissing: true });
  opened.push(archive);
  return archive;
};

/** Serves the page until it is told to stop. */
export const serveUi = async (options: UiOptions): Promise<void> => {
  const { host, port, allowHost, open, json } = options;
  const token = given(options.token, 'SPANLINE_TOKEN');
  const stop = stopRequested();
  const opened: Opened = [];
  try {
    const sources = {
      ...(await openSources(options, opened)),
      archive: await openArchive(given(options.archive, 'SPANLINE_ARCHIVE'), opened),
      snapshots: await openSnapshotStore(options),
    };
    opened.push(sources.snapshots);
    const server = await createUiServer(sources, { host, port, token, allowedHosts: allowHost, version });
    const url = pageAddress(server.url, token);
    printAnswer(json, { url }, `${url}\n`);
    if (open && process.stdout.isTTY) openBrowser(url);
    await stop;
    note('stopping');
    await server.close();
  } finally {
    await closeSources(opened);
  }
};
