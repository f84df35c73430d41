// A bucket with writers and a reader of the plainest kind, over a model of plain lists: what was uploaded has to be found exactly once, and each object that
// a generation names has to be there as long as a reader may have that generation.
import { expect } from 'vitest';
import type { ArchivedSpan } from '../../../../../src/record/archived-span.js';
import { Catalogue } from '../../../src/bucket/catalogue.js';
import type { CatalogueState } from '../../../src/bucket/catalogue-state.js';
import { freshKey, hourOf } from '../../../src/bucket/keys.js';
import type { ListedObject, ObjectStore } from '../../../src/bucket/object-store.js';
import { newId, segmentName } from '../../../src/directory.js';
import { Segment } from '../../../src/segment/segment.js';
import { segmentBytes, span, spanIdOf, traceIdOf } from '../../segment/support/segments.js';
import { unsortedBytes } from '../../segment/support/unsorted-bytes.js';

/** A segment that a writer puts. */
export interface Upload {
  readonly name: string;
  readonly bytes: Buffer;
  readonly spanIds: readonly string[];
}

/** Spans of one trace, numbered from `first` on. */
const spansOf = (first: number, count: number, atMs: number): ArchivedSpan[] =>
  Array.from({ length: count }, (_, i) =>
    span({
      traceId: traceIdOf(1 + first),
      spanId: spanIdOf(1 + first + i),
      parentSpanId: i === 0 ? '' : spanIdOf(1 + first),
      startUnixNs: BigInt(atMs + i) * 1_000_000n,
      endUnixNs: BigInt(atMs + i + 5) * 1_000_000n,
    }),
  );

/** A segment of `count` spans, which nobody else has. */
export const makeUpload = async (first: number, count: number, atMs: number, isSorted = true): Promise<Upload> => {
  const spans = spansOf(first, count, atMs);
  return {
    name: segmentName(BigInt(atMs) * 1_000_000n, BigInt(atMs + count + 5) * 1_000_000n, newId(), isSorted),
    bytes: isSorted ? segmentBytes(spans) : await unsortedBytes(spans, 3),
    spanIds: spans.map(({ spanId }) => spanId),
  };
};

/** Put it, in the hour of the store's clock or another. */
export const putUpload = async (store: ObjectStore, { name, bytes }: Upload, hour = hourOf(store.clockMs())) => {
  await store.put(freshKey(hour, name), bytes, { ifAbsent: true });
};

export const listFresh = async (store: ObjectStore, listFrom: string): Promise<ListedObject[]> => {
  const listed: ListedObject[] = [];
  for await (const page of store.list('fresh/', listFrom === '' ? {} : { startAfter: `fresh/${listFrom}` }))
    listed.push(...page);
  return listed;
};

/**
 * Ids of the spans that a reader finds, each as often as it is found, with the generation and the listing of one moment. Of what `known` has it
 * is only seen that it is there.
 */
export const spanIdsIn = async (
  store: ObjectStore,
  state: CatalogueState,
  listed: readonly ListedObject[],
  known = new Map<string, readonly string[]>(),
): Promise<string[]> => {
  const keys = [...state.live.values(), ...state.freshOf(listed).values()].map(({ key }) => key);
  const ids: string[] = [];
  for (const key of keys) {
    const transport = store.transport(key);
    let own = known.get(key);
    if (own === undefined) {
      const segment = await Segment.open(transport);
      const traces: string[][] = [];
      for await (const trace of segment.scan()) traces.push(trace.map(({ spanId }) => spanId));
      await segment.close();
      own = traces.flat();
      known.set(key, own);
    } else await transport.readTail(1);
    // Not as a list of arguments: ten minutes make hundreds of thousands.
    for (const id of own) ids.push(id);
  }
  return ids.sort();
};

/** A reader that looks now. */
export const readAll = async (store: ObjectStore): Promise<string[]> => {
  const state = await new Catalogue(store).read();
  return spanIdsIn(store, state, await listFresh(store, state.listFrom));
};

export const expectExactly = (found: readonly string[], uploads: Iterable<Upload>): void =>
  expect(found).toEqual([...uploads].flatMap(({ spanIds }) => spanIds).sort());
