// Waits for work that may hang, but only so long. The work goes on after the wait is over.
import { timerMs } from './timer-ms.js';
import { timers } from './timers.js';

/** Resolves when `work` has settled, at the latest after `ms`; rejects only as the work does. The wait keeps the process alive. */
export const within = async (ms: number, work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<void>((resolve) => {
    timer = timers.setTimeout(resolve, timerMs(ms));
  });
  try {
    await Promise.race([work, timedOut]);
  } finally {
    timers.clearTimeout(timer);
  }
};
