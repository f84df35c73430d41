// The entry `spanline/register`: traces the program that it is loaded into, `node --import spanline/register app.js`. Once a thread, however
// often and in whichever form it is loaded.
import { start } from './start.js';

const STARTED = Symbol.for('spanline.register.1');
const holder = globalThis as { [STARTED]?: true };

if (holder[STARTED] === undefined) {
  holder[STARTED] = true;
  start().catch((error: unknown) => {
    process.stderr.write(
      `spanline: the service is not traced: ${error instanceof Error ? error.stack : String(error)}\n`,
    );
  });
}
