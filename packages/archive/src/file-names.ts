// The names of an archive's files, which carry what a reader needs to choose among them. The directory listing is the only list there is.
import { randomBytes } from 'node:crypto';
import { type Owner, ownedName, ownerText, THIS_OWNER } from './owner.js';

/** A segment as its name tells it. */
export interface SegmentName {
  readonly name: string;
  /** Unix milliseconds: no span starts before, none ends after. */
  readonly startMs: number;
  readonly endMs: number;
}

/** A file of one owner as its name tells it. */
export interface OwnedName {
  readonly name: string;
  readonly owner: Owner;
  /** Stays the same when another takes the file over. */
  readonly id: string;
}

const SEGMENT = /^seg-(\d{1,16})-(\d{1,16})-[0-9a-f]{12}\.spans$/;
const WAL = ownedName('wal', '\\.log');
const LOCK = ownedName('maintenance', '\\.lock');
const NS_PER_MS = 1_000_000n;

/** The name of a segment; `id` is a `newId`. */
export const segmentName = (startUnixNs: bigint, endUnixNs: bigint, id: string): string =>
  `seg-${startUnixNs / NS_PER_MS}-${endUnixNs / NS_PER_MS + 1n}-${id}.spans`;

/** Whether a name is that of the segment with this `id`. */
export const isSegmentOf = (name: string, id: string): boolean => SEGMENT.test(name) && name.endsWith(`-${id}.spans`);

/** What a segment's name tells; undefined for any other file. */
export const parseSegmentName = (name: string): SegmentName | undefined => {
  const [, start, end] = SEGMENT.exec(name) ?? [];
  return start === undefined ? undefined : { name, startMs: Number(start), endMs: Number(end) };
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

/** What a write-ahead file's name tells; undefined for any other file. */
export const parseWalName = (name: string): OwnedName | undefined => parseOwned(WAL, name);

/** What a lock's name tells; undefined for any other file. */
export const parseLockName = (name: string): OwnedName | undefined => parseOwned(LOCK, name);
