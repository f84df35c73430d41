// Ports of this machine, for servers that tests and benchmarks start.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './lock.mjs';

// Below those that systems give to who asks for any, and to every connection that goes out: of those another process gets one in between.
const LOWEST = 20_000;
const HIGHEST = 32_000;
const TAKEN = join(tmpdir(), 'spanline-ports');

const own = new Set();
const giveBack = () => {
  for (const file of own) rmSync(file, { force: true });
};

// One of a process that was killed is free the next time. An empty one is being written, and one that is gone was given back.
const freeOfDead = (file) => {
  try {
    const owner = Number(readFileSync(file, 'utf8'));
    if (owner > 0 && !isAlive(owner)) rmSync(file, { force: true });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
};

/** Whether `port` is this process's from now on: nobody else who asks here gets it while the process lives. */
const take = (port) => {
  mkdirSync(TAKEN, { recursive: true });
  const file = join(TAKEN, String(port));
  try {
    const descriptor = openSync(file, 'wx');
    writeSync(descriptor, String(process.pid));
    closeSync(descriptor);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    freeOfDead(file);
    return false;
  }
  if (own.size === 0) process.once('exit', giveBack);
  own.add(file);
  return true;
};

/** A port on which nothing listens, and which no other process gets here while this one lives. */
export async function freePort() {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (!take(port)) continue;
    const probe = createServer().listen(port, '127.0.0.1');
    const isFree = await new Promise((resolve) => {
      probe.once('listening', () => resolve(true)).once('error', () => resolve(false));
    });
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
}

/** Whether something accepts connections there. */
export async function isListening(port, address = '127.0.0.1') {
  const socket = connect(port, address);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
