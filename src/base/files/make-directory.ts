// Directories made with those above them. Node's own `recursive` goes round for ever where a system makes none in a directory that is there, as in
// /proc: nothing else in the library may make them so.
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Makes `path` and what is missing above it. Throws the system's error. */
export const makeDirectory = (path: string, mode?: number): void => {
  const missing: string[] = [];
  let at = resolve(path);
  for (;;) {
    try {
      mkdirSync(at, { mode });
      break;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Also on a file system that is read only, or made by another process meanwhile.
      if (isDirectory(at)) break;
      const above = dirname(at);
      if (code !== 'ENOENT' || above === at || isDirectory(above)) throw error;
      missing.push(at);
      at = above;
    }
  }
  for (const one of missing.reverse()) {
    try {
      mkdirSync(one, { mode });
    } catch (error) {
      if (!isDirectory(one)) throw error;
    }
  }
};
