// What machine a benchmark ran on: said with every result, because absolute times hold for one machine only.
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
