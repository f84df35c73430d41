// What the system tells of a process and all that it has started: CPU time, and the ports that they listen on. Linux alone tells it this way; elsewhere
// the answer is undefined, never a guess.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const MS_PER_TICK = 10;
const LISTENING = '0A';

const read = (path: string): string => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // It has ended meanwhile.
    return '';
  }
};

/** Fields of a process's `stat` behind its name, which may hold anything. */
const statOf = (pid: number): readonly string[] =>
  read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');

/** The process and its descendants. */
const treeOf = (root: number): readonly number[] => {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(statOf(Number(name))[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
};

/** CPU time of all threads of the process and its descendants, those included that it has waited for, in ms; undefined where the system does not tell. */
export const treeCpuMs = (root: number): number | undefined => {
  if (process.platform !== 'linux') return undefined;
  // User and system time, and those of children that were waited for.
  const ticks = treeOf(root).map((pid) =>
    statOf(pid)
      .slice(11, 15)
      .reduce((sum, one) => sum + Number(one), 0),
  );
  return ticks.reduce((sum, one) => sum + one, 0) * MS_PER_TICK;
};

/** Inodes of the sockets that a process has. */
const socketsOf = (pid: number): readonly string[] => {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1] ?? [];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
};

/** Ports on which the process or a descendant listens; undefined where the system does not tell. */
export const listeningPorts = (root: number): readonly number[] | undefined => {
  if (process.platform !== 'linux') return undefined;
  const own = new Set(treeOf(root).flatMap(socketsOf));
  const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => read(file).split('\n').slice(1));
  return lines.flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    if (fields[3] !== LISTENING || !own.has(fields[9])) return [];
    return [Number.parseInt(fields[1].slice(fields[1].lastIndexOf(':') + 1), 16)];
  });
};
