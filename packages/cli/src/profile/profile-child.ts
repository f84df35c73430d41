// What `spanline profile run` does in the program that it starts: profiles it until it ends. Must leave the program's signals and exit code as
// they are.
import { isMainThread } from 'node:worker_threads';
import { CHILD_VARIABLE, type ChildOptions, ChildProfiler, complain } from './child-profiler.js';

/**
 * Calls `last` when `signal` is about to end this process; never while somebody else handles it. A program that handles the signal itself
 * must find no handler but its own: libraries count handlers to learn whether the signal is theirs alone.
 */
const beforeSignalEnds = (signal: NodeJS.Signals, last: () => void): void => {
  const onSignal = (): void => {
    last();
    stop();
    process.kill(process.pid, signal);
  };
  const isAlone = (): boolean => process.listenerCount(signal) === 0;
  // When the last of the others has gone the signal would end the process, as soon as it is sent: no time may pass.
  const onRemoved = (event: string | symbol): void => {
    if (event === signal && isAlone()) process.on(signal, onSignal);
  };
  // Told before the other is there: without any, Node would give the signal back to the system.
  const onAdded = (event: string | symbol, listener: unknown): void => {
    if (event !== signal || listener === onSignal) return;
    process.nextTick(() => {
      if (process.listenerCount(signal) > 1) process.off(signal, onSignal);
    });
  };
  const stop = (): void => {
    process.off('removeListener', onRemoved);
    process.off('newListener', onAdded);
    process.off(signal, onSignal);
  };
  process.on(signal, onSignal);
  process.on('newListener', onAdded);
  process.on('removeListener', onRemoved);
};

const ENDING_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

const writeAtTheEnd = (profiler: ChildProfiler): void => {
  process.on('exit', () => profiler.stop());
  if (!isMainThread) return;
  for (const signal of ENDING_SIGNALS) beforeSignalEnds(signal, () => profiler.stop());
};

const toggleBySignal = (profiler: ChildProfiler): void => {
  if (isMainThread) process.on('SIGUSR2', () => profiler.toggle());
};

const profileThis = async (text: string): Promise<void> => {
  try {
    const options = JSON.parse(text) as ChildOptions;
    const profiler = await ChildProfiler.open(options);
    writeAtTheEnd(profiler);
    if (options.isToggled) toggleBySignal(profiler);
    else await profiler.start();
  } catch (error) {
    complain('not profiled', error);
  }
};

const text = process.env[CHILD_VARIABLE];

/** Resolves when the profile has begun. */
export const started: Promise<void> = text === undefined ? Promise.resolve() : profileThis(text);
