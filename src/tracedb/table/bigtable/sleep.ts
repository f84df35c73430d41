// A pause that a signal or a deadline ends. It must be awaited by the call it delays.
import type { CallGuard } from '../call-guard.js';

/** Wait so many milliseconds; rejects when the call is stopped. */
export const sleep = (ms: number, guard: CallGuard): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    guard.whenStopped((error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
