// Whether there is a process of this number, and whether it is the one that was meant: ours to signal or not.
import { readFileSync } from 'node:fs';
import { attempt } from './attempt.js';

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

// Linux counts times of processes in hundredths of a second, whatever the machine.
const TICK_MS = 10;
// The kernel's time of its start is whole seconds.
const MARGIN_MS = 2000;

/** Milliseconds of Unix time at which a process began; undefined where that is not known. */
const startOf = (pid: number): number | undefined =>
  attempt(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Behind the name of the program, which may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const boot = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'));
    return boot === null ? undefined : Number(boot[1]) * 1000 + Number(fields[19]) * TICK_MS;
  });

/** Whether the process that had this number at a moment, milliseconds of Unix time, is still there: numbers are given again. */
export const isAliveSince = (pid: number, ms: number): boolean =>
  isAlive(pid) && (startOf(pid) ?? Number.NEGATIVE_INFINITY) <= ms + MARGIN_MS;
