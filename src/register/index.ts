// What `spanline/register` does: traces the program that it is loaded into. After `node --require` the program begins as soon as this file has run,
// so what it may use at once must not be waited for.
import { startOnce } from './start-once.js';

/** Resolves when everything is there that the environment asks for. */
export const started: Promise<void> = startOnce();
