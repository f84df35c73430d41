// What `spanline/register` does as a module: traces the program that it is loaded into.
import { startOnce } from './start-once.js';

/** Resolves when everything is there that the environment asks for. */
export const started: Promise<void> = startOnce(() => import('./api.js'));
