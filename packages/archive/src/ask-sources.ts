// Asks sources, a bounded number at a time, and puts together what they say of traces. Parts of a trace may lie in several: the answer must be the same
// wherever they lie, and in whatever order the sources answer.

import { checkSignal } from '@spanline/graph/internal';
import { getOrMake, inParallel } from 'spanline/internal/base';
import type { ArchivedSpan } from 'spanline/internal/record';
import { type AskOptions, type TraceParts, type TraceSource, traceIdsOf } from './trace-source.js';
import { rootFirst } from './trace-trees.js';
import { compare } from './values/fields.js';

/** Asks sources in order, a bounded number at a time. */
export const askEach = <T>(
  sources: readonly T[],
  options: AskOptions,
  ask: (source: T, at: number) => Promise<void>,
): Promise<void> =>
  inParallel(sources.entries(), Math.min(options.parallel ?? 1, sources.length), async ([at, source]) => {
    checkSignal('the archive', options);
    await ask(source, at);
  });

/** The spans of traces out of all sources; of a span that comes twice the last one, sources being given newest first. */
export const tracesFrom = async (
  sources: readonly TraceParts[],
  ids: readonly string[],
  options: AskOptions,
): Promise<Map<string, ArchivedSpan[]>> => {
  const found: (ReadonlyMap<string, readonly ArchivedSpan[]> | undefined)[] = sources.map(() => undefined);
  const wanted = traceIdsOf(ids);
  await askEach(sources, options, async (source, at) => {
    const possible = await source.possible(wanted);
    if (possible.length > 0) found[at] = await source.traces(possible);
  });
  // In the order of the sources, in whatever order they answered.
  const parts = new Map<string, (readonly ArchivedSpan[])[]>();
  for (const some of found) for (const [id, spans] of some ?? []) getOrMake(parts, id, () => []).unshift(spans);
  const traces = new Map<string, ArchivedSpan[]>();
  for (const id of ids) {
    const some = parts.get(id);
    if (some !== undefined) traces.set(id, some.length === 1 ? [...some[0]] : rootFirst(some.flat()));
  }
  return traces;
};

/** Those of some traces of which a source has a part. */
export const presentIn = async (
  sources: readonly TraceParts[],
  ids: readonly string[],
  options: AskOptions,
): Promise<string[]> => {
  const found: (readonly string[])[] = sources.map(() => []);
  const wanted = traceIdsOf(ids);
  await askEach(sources, options, async (source, at) => {
    found[at] = await source.present(wanted);
  });
  return [...new Set(found.flat())];
};

/** The one that ends last first. */
export const newestSourceFirst = (sources: readonly TraceSource[]): TraceSource[] =>
  [...sources].sort((a, b) => compare(b.endUnixNs, a.endUnixNs));
