// One builder at a time: tests and commands start builds and installations from several processes. A lock whose owner died is taken over.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Whether a process runs, ours or somebody else's. */
export const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
};

function tryTake(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

function ownerOf(file) {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
}

function take(file) {
  mkdirSync(dirname(file), { recursive: true });
  while (!tryTake(file)) {
    const owner = ownerOf(file);
    if (owner > 0 && !isAlive(owner)) rmSync(file, { force: true });
    else sleep(100);
  }
}

/** Run `body` while holding the lock file. */
export async function withLock(file, body) {
  take(file);
  try {
    return await body();
  } finally {
    rmSync(file, { force: true });
  }
}

/** The same for what does not wait. */
export function withLockSync(file, body) {
  take(file);
  try {
    return body();
  } finally {
    rmSync(file, { force: true });
  }
}
