// The Node.js processes of this machine that a snapshot can be taken of: those of the user who serves the page. They are only looked at; whether one
// has a recorder that was switched on in its code cannot be seen from outside.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { isNode } from 'spanline/internal/inspector';
import { partsOfName } from 'spanline/internal/timeline';
import type { NodeProcess } from '../api/snapshots/answers.js';

/** Processes that are listed. */
const MAX = 200;
/** Characters of a command. */
const COMMAND_LENGTH = 300;
/** Bytes of the list of processes where there is no /proc. */
const MAX_BYTES = 8 << 20;

/** What `SPANLINE_FLIGHT_RECORDER` says where nothing is switched on. */
const OFF: ReadonlySet<string | undefined> = new Set([undefined, '', '0', 'off', 'false']);

const entries = (bytes: string): string[] => bytes.split('\0').filter((text) => text !== '');

const asksForRecorder = (environment: readonly string[]): boolean => {
  const setting = environment.find((text) => text.startsWith('SPANLINE_FLIGHT_RECORDER='));
  return !OFF.has(setting?.slice(setting.indexOf('=') + 1).trim());
};

/** The files of a recorder that writes as it records. */
const writesRows = async (pid: string): Promise<boolean> => {
  for (const fd of await readdir(`/proc/${pid}/fd`)) {
    const file = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
    if (partsOfName(basename(file))?.pid === Number(pid)) return true;
  }
  return false;
};

/** Undefined for what is not a Node, another user's, or gone meanwhile. */
const lookAt = async (pid: string): Promise<NodeProcess | undefined> => {
  try {
    const { uid } = await stat(`/proc/${pid}`);
    const own = process.getuid?.();
    if (own !== 0 && uid !== own) return undefined;
    const program = (await readlink(`/proc/${pid}/exe`)).replace(/ \(deleted\)$/, '');
    if (!isNode(program)) return undefined;
    const [command, environment] = await Promise.all(
      ['cmdline', 'environ'].map(async (name) => entries(await readFile(`/proc/${pid}/${name}`, 'utf8'))),
    );
    return {
      pid: Number(pid),
      command: command.join(' ').slice(0, COMMAND_LENGTH),
      hasRecorder: asksForRecorder(environment) || (await writesRows(pid)),
    };
  } catch {
    return undefined;
  }
};

const byProc = async (): Promise<NodeProcess[]> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return (await Promise.all(pids.map(lookAt))).filter((found) => found !== undefined);
};

const byPs = async (): Promise<NodeProcess[]> => {
  const { stdout } = await promisify(execFile)('ps', ['-xo', 'pid=,comm=,args='], { maxBuffer: MAX_BYTES });
  return stdout.split('\n').flatMap((line): NodeProcess[] => {
    const [, pid, program, command] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined || !isNode(program)) return [];
    return [{ pid: Number(pid), command: command.slice(0, COMMAND_LENGTH), hasRecorder: false }];
  });
};

/** Those that are known to have a recorder first, the youngest of both first; without this very process. */
export const nodeProcesses = async (): Promise<{
  readonly processes: readonly NodeProcess[];
  /** Those beyond the bound. */
  readonly omitted: number;
}> => {
  const all = (existsSync('/proc/self/exe') ? await byProc() : await byPs()).filter(({ pid }) => pid !== process.pid);
  all.sort((a, b) => Number(b.hasRecorder) - Number(a.hasRecorder) || b.pid - a.pid);
  return { processes: all.slice(0, MAX), omitted: Math.max(0, all.length - MAX) };
};
