// The files of an archive: their names, which carry what a reader needs to choose among them, and the owner of each that is written; and the listing
// of a directory now, which is the only list there is. Others add, merge and delete at any time: a listing must be of one moment, never half before
// and half after a merge, and is made again when a file of it vanished. What a process that died has left is taken over by exactly one other; a
// living owner's file may be taken for a dead one's only after a long silence, and owners must survive that.

import { createHash, randomBytes } from 'node:crypto';
import { readlinkSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { NotFoundError, TransportError } from '@spanline/graph';
import { attempt, isAlive, isGone, SpanlineError, timers } from 'spanline/internal/base';

/** A process, and a copy of this module in it. */
export interface Owner {
  /** Where its number means something: a host, or a container in one. 8 hex digits. */
  readonly host: string;
  readonly pid: number;
  /** 8 hex digits. */
  readonly instance: string;
}

/** Owners touch their files every second; one that did not for so many milliseconds is gone, whatever its number says. */
const SILENCE_MS = 60_000;

const processNamespace = attempt(() => readlinkSync('/proc/self/ns/pid')) ?? '';

export const THIS_OWNER: Owner = {
  host: createHash('sha256').update(`${hostname()} ${processNamespace}`).digest('hex').slice(0, 8),
  pid: process.pid,
  instance: randomBytes(4).toString('hex'),
};

const OWNER = '([0-9a-f]{8})-(\\d{1,10})-([0-9a-f]{8})';

/** An owner as names have it. */
export const ownerText = ({ host, pid, instance }: Owner): string => `${host}-${pid}-${instance}`;

/** Matches `prefix`, an owner, and 12 hex digits of a file. */
const ownedName = (prefix: string, suffix: string): RegExp =>
  new RegExp(`^${prefix}-${OWNER}-([0-9a-f]{12})${suffix}$`);

/** Files of this module that are in use. */
const inUse = new Set<string>();

/** Say that a file is in use here, until the answer is called. */
export const use = (path: string): (() => void) => {
  inUse.add(path);
  return () => inUse.delete(path);
};

/** Whether the owner of the file at `path` may still be using it. */
export const isInUse = ({ host, pid, instance }: Owner, path: string): boolean => {
  if (instance === THIS_OWNER.instance && pid === THIS_OWNER.pid && host === THIS_OWNER.host) return inUse.has(path);
  if (host === THIS_OWNER.host && !isAlive(pid)) return false;
  // Undefined: somebody took care of it meanwhile.
  const stats = attempt(() => statSync(path));
  return stats === undefined || timers.wallMs() - stats.mtimeMs < SILENCE_MS;
};

/** A segment as its name tells it. */
export interface SegmentName {
  readonly name: string;
  /** Unix milliseconds: no span starts before, none ends after. */
  readonly startMs: number;
  readonly endMs: number;
  /** False: batches as they were written, which merging sorts. */
  readonly isSorted: boolean;
}

/** A file of one owner as its name tells it. */
export interface OwnedName {
  readonly name: string;
  readonly owner: Owner;
  /** Stays the same when another takes the file over. */
  readonly id: string;
}

const SEGMENT = /^seg-(\d{1,16})-(\d{1,16})-[0-9a-f]{12}\.(spans|unsorted)$/;
const WAL = ownedName('wal', '\\.log');
const LOCK = ownedName('maintenance', '\\.lock');
const NS_PER_MS = 1_000_000n;

/** The name of a segment; `id` is a `newId`. */
export const segmentName = (startUnixNs: bigint, endUnixNs: bigint, id: string, isSorted = true): string =>
  `seg-${startUnixNs / NS_PER_MS}-${endUnixNs / NS_PER_MS + 1n}-${id}.${isSorted ? 'spans' : 'unsorted'}`;

/** What a segment's name tells; undefined for any other file. */
export const parseSegmentName = (name: string): SegmentName | undefined => {
  const [, start, end, form] = SEGMENT.exec(name) ?? [];
  if (start === undefined) return undefined;
  return { name, startMs: Number(start), endMs: Number(end), isSorted: form === 'spans' };
};

/** A file's identity: 12 hex digits. */
export const newId = (): string => randomBytes(6).toString('hex');

/** The name of a write-ahead file that this process owns. */
export const walName = (id: string): string => `wal-${ownerText(THIS_OWNER)}-${id}.log`;

/** The name under which a damaged write-ahead file is put aside: what could be read of it is in a segment, and nobody reads it again. */
export const damagedWalName = (id: string): string => `damaged-wal-${id}.log`;

/** The name of this process's file that says it maintains the archive. */
export const lockName = (id: string): string => `maintenance-${ownerText(THIS_OWNER)}-${id}.lock`;

const parseOwned = (form: RegExp, name: string): OwnedName | undefined => {
  const [, host, pid, instance, id] = form.exec(name) ?? [];
  return host === undefined ? undefined : { name, owner: { host, pid: Number(pid), instance }, id };
};

/** What a lock's name tells; undefined for any other file. */
export const parseLockName = (name: string): OwnedName | undefined => parseOwned(LOCK, name);

/** Times a directory that keeps changing is read. */
const MAX_READS = 50;

/** Files of an archive. */
export interface DirectoryNames {
  /** The one that ends last first. */
  readonly segments: readonly SegmentName[];
  readonly wals: readonly OwnedName[];
}

/** The order of a listing. */
export const newestSegmentFirst = (a: SegmentName, b: SegmentName): number =>
  b.endMs - a.endMs || (a.name < b.name ? -1 : 1);

const readNames = async (directory: string, mayBeMissing: boolean): Promise<string[]> => {
  try {
    return await readdir(directory);
  } catch (cause) {
    if (isGone(cause) && mayBeMissing) return [];
    if (isGone(cause)) throw new NotFoundError(`there is no archive in ${directory}: no such directory`, { cause });
    throw new TransportError(`${directory} cannot be read: ${(cause as Error).message}`, { cause });
  }
};

const parse = (names: readonly string[]): DirectoryNames => ({
  segments: names.flatMap((name) => parseSegmentName(name) ?? []).sort(newestSegmentFirst),
  wals: names.flatMap((name) => parseOwned(WAL, name) ?? []).sort((a, b) => (a.name < b.name ? -1 : 1)),
});

/** Lists one directory again and again. */
export class DirectoryReader {
  readonly #directory: string;
  readonly #mayBeMissing: boolean;
  #lastText: string | undefined;
  #last: DirectoryNames = { segments: [], wals: [] };

  /** With `mayBeMissing` a directory that is not there has no files. */
  constructor(directory: string, mayBeMissing = false) {
    this.#directory = directory;
    this.#mayBeMissing = mayBeMissing;
  }

  /**
   * The files of one moment; the same object while they are the same. A file that appears while a directory is read may be missed, and the
   * one it stands for be gone already: so it is read until two readings are the same. No name comes again, so the same names as before
   * are still there.
   */
  async list(): Promise<DirectoryNames> {
    for (let reads = 0; reads < MAX_READS; reads++) {
      const names = await readNames(this.#directory, this.#mayBeMissing);
      const text = names.join('\n');
      if (text === this.#lastText) return this.#last;
      this.#lastText = text;
      this.#last = parse(names);
    }
    return this.#last;
  }
}

/** A file vanished between listing and opening it. */
export class VanishedError extends SpanlineError {
  constructor(readonly file: string) {
    super('VANISHED', `${file} is not there any more`);
  }
}
