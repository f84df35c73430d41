// Waiting for pipelines and letting them go. A reporter that rejects or hangs here must not be felt by whoever waits.
import type { Pipeline } from './pipeline.js';
import { timerMs } from './timer-ms.js';

/** Wait for `work`, but not longer than this. */
export const within = async (ms: number, work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  // Not unref'ed: whoever awaits a flush wants the process to live until it is done.
  const timedOut = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timerMs(ms));
  });
  await Promise.race([work, timedOut]);
  clearTimeout(timer);
};

/** Wait until what was pushed before `mark` is out of this process. */
export const drained = async (pipeline: Pipeline, mark: number): Promise<void> => {
  await pipeline.whenSettled(mark);
  try {
    await pipeline.reporter.flush?.();
  } catch (error) {
    pipeline.lastError = String(error);
  }
};

/** Stop a pipeline and release its reporter; once. */
export const retire = async (pipeline: Pipeline): Promise<void> => {
  if (pipeline.isClosed) return;
  pipeline.close();
  try {
    await pipeline.reporter.shutdown?.();
  } catch (error) {
    pipeline.lastError = String(error);
  }
};
