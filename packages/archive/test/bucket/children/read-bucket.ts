// Reads an archive in a bucket as often as it is told: of each line of its input, a list of ranges of numbered traces, it prints what of these is missing,
// other than it was written, or there twice. It looks as archives do, and a second time at the bare objects, where nobody tells equal spans apart.
// Arguments: PLACE CACHE GRACE_MS.
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import { Archive } from '../../../src/archive.js';
import { Catalogue } from '../../../src/bucket/catalogue.js';
import { openObjectStore } from '../../../src/bucket/object-store.js';
import { numberedTrace } from '../../archive/support/numbered-traces.js';
import { byId, traceIdOf } from '../../segment/support/segments.js';
import { listFresh, spanIdsIn } from '../support/shop.js';

const [place, cacheDirectory, graceText] = process.argv.slice(2) as [string, string, string];
const graceMs = Number(graceText);

const archive = await Archive.open(place, { readOnly: true, cacheDirectory });
const store = openObjectStore(place);
const catalogue = new Catalogue(store);
const known = new Map<string, readonly string[]>();

/** Ids of spans as often as they are in objects; once more, where a look took longer than what is dead is kept. */
const spanIds = async (): Promise<string[]> => {
  for (;;) {
    const began = performance.now();
    try {
      const state = await catalogue.read();
      const [damage] = state.damaged;
      if (damage !== undefined) throw new Error(damage.message);
      return await spanIdsIn(store, state, await listFresh(store, state.listFrom), known);
    } catch (error) {
      if (performance.now() - began < graceMs / 2) throw error;
    }
  }
};

const check = async (ranges: readonly (readonly [number, number])[]): Promise<object> => {
  const numbers = ranges.flatMap(([first, end]) => Array.from({ length: end - first }, (_, i) => first + i));
  const damaged: string[] = [];
  const traces = await archive.traces(
    numbers.map((n) => traceIdOf(n + 1)),
    { onDamage: ({ message }) => damaged.push(message) },
  );
  const wrong = numbers.filter(
    (n) => !isDeepStrictEqual(byId(traces.get(traceIdOf(n + 1)) ?? []), byId(numberedTrace(n))),
  );
  const ids = await spanIds();
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  const notOnce = numbers.filter((n) => numberedTrace(n).some(({ spanId }) => counts.get(spanId) !== 1));
  const again = [...counts].filter(([, count]) => count > 1).map(([id]) => id);
  return {
    numbers: numbers.length,
    wrong: wrong.slice(0, 5),
    notOnce: notOnce.slice(0, 5),
    twice: again.length,
    // Objects that have one of those, those of earlier looks too.
    objects: again.length === 0 ? [] : [...known].filter(([, own]) => own.includes(again[0])).map(([key]) => key),
    damaged: damaged.slice(0, 3),
  };
};

for await (const line of createInterface({ input: process.stdin })) {
  let answer: object;
  try {
    answer = await check(JSON.parse(line));
  } catch (error) {
    const { code = '', stack = '' } = error as { code?: string; stack?: string };
    answer = { failure: `${code} ${stack}` };
  }
  process.stdout.write(`checked ${JSON.stringify(answer)}\n`);
}
process.exit(0);
