// What the page shows beside an archive: stores and profiles, opened for `spanline ui` and `spanline serve` alike, and the snapshots that it starts
// with. A mistyped name must be refused, never become an empty store, and a file that is not a snapshot before the page is served.
import { stat } from 'node:fs/promises';
import { GoldStore, PerfStore, type WideColumnTable } from '@spanline/tracedb';
import { SnapshotStore, type UiSources } from '@spanline/ui/internal';
import { CommandError, ExitCode } from './exit-code.js';
import type { SourceOptions } from './options.js';
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

const refuse = (message: string): never => {
  throw new CommandError('ERR_SPANLINE_NOT_FOUND', message, ExitCode.store);
};

const checkProfiles = async (directory: string | undefined): Promise<void> => {
  if (directory === undefined || (await stat(directory).catch(() => undefined))?.isDirectory()) return;
  refuse(`${directory} is not a directory of profiles`);
};

const checkHistory = async (path: string | undefined): Promise<void> => {
  if (path === undefined || (await stat(path).catch(() => undefined)) !== undefined) return;
  refuse(`there is no history in ${path}; spanline bench run --file makes one`);
};

/** Opens what the options name and adds it to `opened`, also where a later one fails. */
export const openSources = async (
  { store, goldStore, profiles, history }: SourceOptions,
  opened: Opened,
): Promise<Omit<UiSources, 'archive'>> => {
  await checkProfiles(profiles);
  await checkHistory(history);
  return {
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

export interface SnapshotOptions {
  /** Files. */
  readonly snapshot: readonly string[];
  /** A directory. */
  readonly snapshots?: string;
}

/** The store of the page; whoever opens it closes it. */
export const openSnapshotStore = async ({ snapshot, snapshots }: SnapshotOptions): Promise<SnapshotStore> => {
  for (const file of snapshot) await snapshotIn(file);
  const found = snapshots === undefined ? undefined : await stat(snapshots).catch(() => undefined);
  if (found !== undefined && !found.isDirectory())
    throw new CommandError('ERR_SPANLINE_NOT_FOUND', `${snapshots} is not a directory`, ExitCode.store);
  return new SnapshotStore({ directory: snapshots, files: snapshot });
};
