// Which machines are alike enough for their figures to stand in one series. It must never hold what changes from one boot to the next.
import { arch, availableParallelism, cpus, platform } from 'node:os';

/** Threads that programs may run on and the model of the processor tell machines of a cloud apart; their names tell none. */
export const machineClass = (): string => {
  const model = cpus()[0]?.model.trim().replace(/\s+/g, ' ') || 'unknown processor';
  return `${platform()}-${arch()} ${availableParallelism()}x ${model}`;
};

/** The major version of Node: minor ones of a line are compared with each other. */
export const nodeMajor = (version: string = process.versions.node): string => version.split('.', 1)[0];
