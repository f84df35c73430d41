// Who writes a file of an archive: each has its owner in its name, so that what a process that died has left is known, and taken over by
// exactly one other. A living owner's file may be taken for a dead one's only after a long silence; owners must survive that.
import { createHash, randomBytes } from 'node:crypto';
import { readlinkSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { isAlive, timers } from 'spanline/internal/base';

/** A process, and a copy of this module in it. */
export interface Owner {
  /** Where its number means something: a host, or a container in one. 8 hex digits. */
  readonly host: string;
  readonly pid: number;
  /** 8 hex digits. */
  readonly instance: string;
}

/** Owners touch their files every second; one that did not for so many milliseconds is gone, whatever its number says. */
export const SILENCE_MS = 60_000;

const processNamespace = (): string => {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
};

export const THIS_OWNER: Owner = {
  host: createHash('sha256').update(`${hostname()} ${processNamespace()}`).digest('hex').slice(0, 8),
  pid: process.pid,
  instance: randomBytes(4).toString('hex'),
};

const OWNER = '([0-9a-f]{8})-(\\d{1,10})-([0-9a-f]{8})';

/** An owner as names have it. */
export const ownerText = ({ host, pid, instance }: Owner): string => `${host}-${pid}-${instance}`;

/** Matches `prefix`, an owner, and 12 hex digits of a file. */
export const ownedName = (prefix: string, suffix: string): RegExp =>
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
  try {
    return timers.wallMs() - statSync(path).mtimeMs < SILENCE_MS;
  } catch {
    // Somebody took care of it meanwhile.
    return true;
  }
};
