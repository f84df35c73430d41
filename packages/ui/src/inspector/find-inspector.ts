// Finds the inspector of a process, and opens it where it is closed. Must not send SIGUSR1 to a process that it would end, nor take
// from what answers anything but a path: it need not be an inspector, and could name any host.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { get } from 'node:http';
import { basename } from 'node:path';
import { attempt, sleep, TargetError, targetFailure, timers } from 'spanline/internal/base';

/** Where a process is inspected. */
export interface FoundInspector {
  readonly address: string;
  /** SIGUSR1 opened it. */
  readonly isOpened: boolean;
}

const DEFAULT_PORT = 9229;
const OPEN_MS = 5000;
const LOOK_MS = 50;
const ANSWER_MS = 1000;
const MAX_BYTES = 1 << 20;
const NODE = /^node(js)?[\d.-]*$/i;
const SIGUSR1_BIT = 1n << 9n;
/** State of a listening socket in /proc/net/tcp. */
const LISTEN = '0A';

const hasProc = (pid: number): boolean => existsSync(`/proc/${pid}/status`);

const requireProcess = (pid: number): void => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    const isForeign = (error as NodeJS.ErrnoException).code === 'EPERM';
    throw targetFailure(isForeign ? `process ${pid} is another user's` : `there is no process ${pid}`, error);
  }
};

/** What a process takes for its id: another one in a container. */
export const ownPidOf = (pid: number): number => {
  if (!hasProc(pid)) return pid;
  const [, own = pid] = /^NSpid:.*\s(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(own);
};

/** The file that a process runs; '' where that is not known. */
export const programOf = (pid: number): string => {
  if (hasProc(pid)) return readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, '');
  return spawnSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() ?? '';
};

/** Whether a file is Node.js by its name. */
export const isNode = (program: string): boolean => NODE.test(basename(program));

// SIGUSR1 ends whatever does not handle it, and shells that do.
const requireNode = (pid: number): void => {
  const program = programOf(pid);
  const hint = 'start it with --inspect, and name its --port';
  if (!isNode(program)) throw targetFailure(`process ${pid} is ${program || 'unknown'}, no Node.js; ${hint}`);
  if (!hasProc(pid)) return;
  const [, mask] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (mask !== undefined && (BigInt(`0x${mask}`) & SIGUSR1_BIT) !== 0n) return;
  throw targetFailure(`process ${pid} does not open its inspector at SIGUSR1 (--disable-sigusr1?); ${hint}`);
};

/** Ports of a process of Linux that it listens on itself: others may listen on the one that is expected. */
export const listeningPorts = (pid: number): number[] => {
  const directory = `/proc/${pid}/fd`;
  const inodes = new Set<string>();
  for (const fd of readdirSync(directory)) {
    // It may be closed meanwhile.
    const target = attempt(() => readlinkSync(`${directory}/${fd}`)) ?? '';
    const [, inode] = /^socket:\[(\d+)\]$/.exec(target) ?? [];
    if (inode !== undefined) inodes.add(inode);
  }
  return ['tcp', 'tcp6'].flatMap((name) => {
    const table = `/proc/${pid}/net/${name}`;
    if (!existsSync(table)) return [];
    return readFileSync(table, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === LISTEN && inodes.has(inode))
      .map(([, local]) => Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16));
  });
};

/** Where `answered`, the address that the inspector at a port gives of itself, leads on that port. */
const onPort = (port: number, answered: string): string => {
  const address = new URL(`ws://127.0.0.1:${port}`);
  address.pathname = new URL(answered).pathname;
  return address.href;
};

const addressAt = (port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const asked = get({ host: '127.0.0.1', port, path: '/json/list', timeout: ANSWER_MS }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > MAX_BYTES) response.destroy();
      });
      response.on('close', () => {
        try {
          const [{ webSocketDebuggerUrl }] = JSON.parse(text) as { webSocketDebuggerUrl?: unknown }[];
          resolve(typeof webSocketDebuggerUrl === 'string' ? onPort(port, webSocketDebuggerUrl) : undefined);
        } catch {
          resolve(undefined);
        }
      });
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(undefined));
  });

const portsOf = (pid: number, port: number | undefined): number[] => {
  if (port !== undefined) return [port];
  return hasProc(pid) ? listeningPorts(pid) : [DEFAULT_PORT];
};

const look = async (pid: number, port: number | undefined): Promise<string | undefined> => {
  for (const each of portsOf(pid, port)) {
    const address = await addressAt(each);
    if (address !== undefined) return address;
  }
  return undefined;
};

/** The inspector of a process; opened by SIGUSR1 where there is none yet. */
export const findInspector = async (pid: number, port?: number): Promise<FoundInspector> => {
  requireProcess(pid);
  const open = await look(pid, port);
  if (open !== undefined) return { address: open, isOpened: false };
  requireNode(pid);
  process.kill(pid, 'SIGUSR1');
  const endMs = timers.monotonicMs() + OPEN_MS;
  while (timers.monotonicMs() < endMs) {
    await sleep(LOOK_MS);
    const address = await look(pid, port);
    if (address !== undefined) return { address, isOpened: true };
  }
  throw new TargetError(
    'ERR_SPANLINE_INSPECTOR_SILENT',
    `process ${pid} opened no inspector within ${OPEN_MS} ms: its event loop may be blocked, or its port taken (see its standard error; --port names another)`,
  );
};
