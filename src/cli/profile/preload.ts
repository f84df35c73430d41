// Loaded into a program by `spanline profile run` before the program's own code: profiles it until it ends. Must leave the program's
// signals and exit code as they are.
import { isMainThread } from 'node:worker_threads';
import { CHILD_VARIABLE, type ChildOptions } from './child-options.js';
import { ChildProfiler } from './child-profiler.js';
import { beforeSignalEnds } from './ending-signals.js';

const ENDING_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

const writeAtTheEnd = (profiler: ChildProfiler): void => {
  process.on('exit', () => profiler.stop());
  if (!isMainThread) return;
  for (const signal of ENDING_SIGNALS) beforeSignalEnds(signal, () => profiler.stop());
};

const toggleBySignal = (profiler: ChildProfiler): void => {
  if (isMainThread) process.on('SIGUSR2', () => profiler.toggle());
};

const text = process.env[CHILD_VARIABLE];
if (text !== undefined) {
  try {
    const options = JSON.parse(text) as ChildOptions;
    const profiler = await ChildProfiler.open(options);
    writeAtTheEnd(profiler);
    if (options.isToggled) toggleBySignal(profiler);
    else await profiler.start();
  } catch (error) {
    process.stderr.write(`spanline: not profiled: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}
