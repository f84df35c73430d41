// A pause that a signal ends. It must leave neither a timer nor a listener behind.
import { timerMs } from './timer-ms.js';
import { timers } from './timers.js';

/** Resolves after `ms`; rejects with the signal's reason when it fires before that. The pause keeps the process alive. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      timers.clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = timers.setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, timerMs(ms));
    signal?.addEventListener('abort', stop, { once: true });
  });
