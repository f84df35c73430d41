// What `spanline/register` does: traces the program that it is loaded into. Once a thread, however often and in whichever form it is loaded.
import { start } from './start.js';

const STARTED = Symbol.for('spanline.register.1');
const holder = globalThis as { [STARTED]?: Promise<void> };

holder[STARTED] ??= start().catch((error: unknown) => {
  process.stderr.write(
    `spanline: the service is not traced: ${error instanceof Error ? error.stack : String(error)}\n`,
  );
});

/** Resolves when everything is there that the environment asks for. */
export const started: Promise<void> = holder[STARTED];
