// Which copy of OpenTelemetry's API is ours: that of the program, wherever this package lies. All copies share one global, but a copy reads it only
// where it is no newer than the one that wrote it. Must leave the loader as it was.
import { realpathSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { join } from 'node:path';

const API = '@opentelemetry/api';
/** What Next.js brings along. */
const OF_NEXT = `next/dist/compiled/${API}`;

type Resolve = (this: unknown, request: string, ...rest: unknown[]) => unknown;
const loader = Module as unknown as { _resolveFilename: Resolve };

const attempt = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

/** Files that stand for where the program is: the one that is run, what a link in `node_modules/.bin` leads to, and the folder it is run in. */
const placesOf = (program: string | undefined): string[] => {
  const real = program === undefined ? undefined : attempt(() => realpathSync(program));
  return [program, real, join(process.cwd(), 'package.json')].filter((place) => place !== undefined);
};

/** The file of the API for the program at `program`; undefined where it is the one that this package finds, or there is none. */
export const findApi = (program: string | undefined = process.argv[1]): string | undefined => {
  const places = placesOf(program).flatMap((place) => attempt(() => createRequire(place)) ?? []);
  const find = (name: string): string | undefined => {
    for (const require of places) {
      const file = attempt(() => require.resolve(name));
      if (file !== undefined) return file;
    }
    return undefined;
  };
  const found = find(API);
  if (found !== undefined) return found;
  return attempt(() => createRequire(import.meta.url).resolve(API)) === undefined ? find(OF_NEXT) : undefined;
};

/** What `load` loads at once gets the API in `file`, where there is one. */
export const withApi = <T>(file: string | undefined, load: () => T): T => {
  if (file === undefined) return load();
  const { _resolveFilename: resolve } = loader;
  loader._resolveFilename = function (request, ...rest) {
    return request === API ? file : Reflect.apply(resolve, this, [request, ...rest]);
  };
  try {
    return load();
  } finally {
    loader._resolveFilename = resolve;
  }
};
