// What machine a benchmark ran on: said with every result, because absolute times hold for one machine only.
import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';

export function machine() {
  const [load] = loadavg();
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform}-${process.arch} ${release()}`,
    /** Above the number of cores, or near it with nothing else running, the figures are noisy. */
    loadBefore: Number(load.toFixed(2)),
  };
}

/** The commit that is measured, with a plus behind it where its code was changed since; undefined outside a checkout. */
export function commit() {
  try {
    const git = (...args) => execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
    return (
      git('rev-parse', '--short=8', 'HEAD') +
      (git('status', '--porcelain', '--untracked-files=no', ':/src', ':/native') && '+')
    );
  } catch {
    return undefined;
  }
}
