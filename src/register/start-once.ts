// Starts tracing once a thread, however often and in whichever form the entry is loaded. It must never throw: the service starts without it.
import { start } from './start.js';

const STARTED = Symbol.for('spanline.register.1');
const holder = globalThis as { [STARTED]?: Promise<void> };

/** Resolves when everything is there that the environment asks for. */
export const startOnce = (): Promise<void> => {
  holder[STARTED] ??= start().catch((error: unknown) => {
    process.stderr.write(
      `spanline: the service is not traced: ${error instanceof Error ? error.stack : String(error)}\n`,
    );
  });
  return holder[STARTED];
};
