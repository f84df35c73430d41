// What `spanline/register` does: traces the program that it is loaded into, once a thread, however often and in whichever form it is loaded. After
// `node --require` the program begins as soon as this file has run, so what it may use at once must not be waited for. It must never throw: the service starts
// without it.
import { start } from './start.js';

const STARTED = Symbol.for('spanline.register.1');
const holder = globalThis as { [STARTED]?: Promise<void> };

const startOnce = (): Promise<void> => {
  holder[STARTED] ??= start().catch((error: unknown) => {
    process.stderr.write(
      `spanline: the service is not traced: ${error instanceof Error ? error.stack : String(error)}\n`,
    );
  });
  return holder[STARTED];
};

/** Resolves when everything is there that the environment asks for. */
export const started: Promise<void> = startOnce();
