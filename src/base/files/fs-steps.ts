// File work described once and run in either of two ways: waiting for nothing, or at once in `process.on('exit')` where
// nothing asynchronous runs. A step is a call of node:fs by name.
//
// Makes new names in a directory survive a power failure. It must not fail: not every file system can sync a directory, and those that cannot
// need not; the file itself is synced by its writer.
import * as fs from 'node:fs';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';

const isDirectory = (path: string): boolean => fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Makes `path` and what is missing above it. Throws the system's error. Node's own `recursive` goes round for ever where a system makes none in a directory that
 * is there, as in /proc: nothing else in the library may make them so.
 */
export const makeDirectory = (path: string, mode?: number): void => {
  const missing: string[] = [];
  let at = resolve(path);
  for (;;) {
    try {
      fs.mkdirSync(at, { mode });
      break;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Also on a file system that is read only, or made by another process meanwhile.
      if (isDirectory(at)) break;
      const above = dirname(at);
      if (code !== 'ENOENT' || above === at || isDirectory(above)) throw error;
      missing.push(at);
      at = above;
    }
  }
  for (const one of missing.reverse()) {
    try {
      fs.mkdirSync(one, { mode });
    } catch (error) {
      if (!isDirectory(one)) throw error;
    }
  }
};

/** One call of node:fs, by the name of its asynchronous form. */
export type FsStep =
  | readonly ['open', path: string, flags: string | number, mode?: number]
  | readonly ['fstat', fd: number]
  | readonly ['read', fd: number, buffer: Buffer, offset: number, length: number, position: number]
  | readonly ['write', fd: number, buffer: Uint8Array, offset: number, length: number]
  | readonly ['ftruncate', fd: number, size: number]
  | readonly ['fchmod', fd: number, mode: number]
  | readonly ['fchown', fd: number, uid: number, gid: number]
  | readonly ['fsync', fd: number]
  | readonly ['close', fd: number]
  | readonly ['stat', path: string]
  | readonly ['realpath', path: string]
  | readonly ['rename', from: string, to: string]
  | readonly ['unlink', path: string]
  | readonly ['makeDirectory', path: string];

/** Yields steps and receives what each call gave. */
// biome-ignore lint/suspicious/noExplicitAny: what comes back differs from step to step
export type FsSteps<T> = Generator<FsStep, T, any>;

type Call<T> = (...args: never[]) => T;

const SYNC: Readonly<Record<FsStep[0], Call<unknown>>> = {
  open: fs.openSync,
  fstat: fs.fstatSync,
  read: fs.readSync,
  write: fs.writeSync,
  ftruncate: fs.ftruncateSync,
  fchmod: fs.fchmodSync,
  fchown: fs.fchownSync,
  fsync: fs.fsyncSync,
  close: fs.closeSync,
  stat: fs.statSync,
  realpath: fs.realpathSync,
  rename: fs.renameSync,
  unlink: fs.unlinkSync,
  makeDirectory,
};

const writeBytes = promisify(fs.write);
const readBytes = promisify(fs.read);

const ASYNC: Readonly<Record<FsStep[0], Call<unknown>>> = {
  open: promisify(fs.open),
  fstat: promisify(fs.fstat),
  // Promisified, read and write give an object where their synchronous forms give the number.
  read: async (...args: Parameters<typeof readBytes>) => (await readBytes(...args)).bytesRead,
  write: async (...args: Parameters<typeof writeBytes>) => (await writeBytes(...args)).bytesWritten,
  ftruncate: promisify(fs.ftruncate),
  fchmod: promisify(fs.fchmod),
  fchown: promisify(fs.fchown),
  fsync: promisify(fs.fsync),
  close: promisify(fs.close),
  stat: promisify(fs.stat),
  realpath: promisify(fs.realpath),
  // A rename in flight when the process exits could replace what the exit itself wrote; it is quick, so it never is.
  rename: fs.renameSync,
  unlink: promisify(fs.unlink),
  makeDirectory,
};

const call = ([name, ...args]: FsStep, table: typeof SYNC): unknown => table[name](...(args as unknown as never[]));

const finishSync = <T>(steps: FsSteps<T>, first: IteratorResult<FsStep, T>): T => {
  let next = first;
  while (!next.done) {
    let result: unknown;
    try {
      result = call(next.value, SYNC);
    } catch (error) {
      next = steps.throw(error);
      continue;
    }
    next = steps.next(result);
  }
  return next.value;
};

export const runSync = <T>(steps: FsSteps<T>): T => finishSync(steps, steps.next());

/** Have steps that wait for a call, of which nobody will hear, clean up: in `process.on('exit')`. They fail with `why`, as they are to. */
export const giveUpSync = (steps: FsSteps<unknown>, why: Error): void => {
  try {
    finishSync(steps, steps.throw(why));
  } catch {
    // What they were doing is not wanted any more.
  }
};

export const runAsync = async <T>(steps: FsSteps<T>): Promise<T> => {
  let next = steps.next();
  while (!next.done) {
    let result: unknown;
    try {
      result = await call(next.value, ASYNC);
    } catch (error) {
      next = steps.throw(error);
      continue;
    }
    next = steps.next(result);
  }
  return next.value;
};

export const syncDirectory = function* (path: string): FsSteps<void> {
  let descriptor: number | undefined;
  try {
    descriptor = yield ['open', path, 'r'];
    yield ['fsync', descriptor as number];
  } catch {
    // Only the name may be the old one after a power failure.
  } finally {
    if (descriptor !== undefined) yield ['close', descriptor];
  }
};
