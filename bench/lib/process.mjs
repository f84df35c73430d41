// What a process has used so far, as the system counts it: nothing of the benchmark runs inside it.
import { readFileSync } from 'node:fs';

const US_PER_TICK = 10_000;

/** CPU of all its threads, us, in steps of 10 ms. */
export function cpuUsOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * US_PER_TICK;
}

/** Resident memory, MB. */
export const rssMbOf = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) / 1024;
