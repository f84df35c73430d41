// OpenTelemetry's API of the program, wherever this package lies: as a package, or as the copy that Next.js brings. What is inside a bundle is none
// that can be loaded.
import type { ContextAPI, PropagationAPI, ROOT_CONTEXT, TraceAPI } from '@opentelemetry/api';
import { attempt, requiresOf } from './program-places.js';

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
