// OpenTelemetry's API of the program, wherever this package lies: as a package, or as the copy that Next.js brings. What is inside a bundle is none
// that can be loaded.
//
// Where the program is, for what it has installed and this package does not find by itself: this one may lie elsewhere. Never throws.

import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ContextAPI, PropagationAPI, ROOT_CONTEXT, TraceAPI } from '@opentelemetry/api';
import { attempt } from '../base/calls/attempt.js';

/** Files that stand for where the program is: the one that is run, what a link in `node_modules/.bin` leads to, and the folder it is run in. */
const placesOf = (program: string | undefined): string[] => {
  const real = program === undefined ? undefined : attempt(() => realpathSync(program));
  return [program, real, join(process.cwd(), 'package.json')].filter((place) => place !== undefined);
};

/** A `require` for each of them. */
export const requiresOf = (program: string | undefined = process.argv[1]): NodeJS.Require[] =>
  placesOf(program).flatMap((place) => attempt(() => createRequire(place)) ?? []);

const API = '@opentelemetry/api';
/** What Next.js brings along. */
const OF_NEXT = `next/dist/compiled/${API}`;

/** What is used of a copy. */
export interface Api {
  readonly trace: TraceAPI;
  readonly context: ContextAPI;
  readonly propagation: PropagationAPI;
  readonly ROOT_CONTEXT: typeof ROOT_CONTEXT;
}

/** The API that the program at `program` finds; undefined where it finds none. */
export const findApi = (program: string | undefined = process.argv[1]): Api | undefined => {
  const places = requiresOf(program);
  for (const name of [API, OF_NEXT]) {
    for (const require of places) {
      const found = attempt(() => require(name) as Api);
      if (found !== undefined) return found;
    }
  }
  return undefined;
};
