// The form in which a sorted segment lies in a bucket: the same file, clustered. All that a trace needs of a few neighbouring groups lies together, its keys, its
// references and the parts of its groups, so that a trace costs one request. What searches read of all groups, and what opening reads, lies together once
// more behind that. Only the order of bytes is decided here: whatever it is, readers find the same.

import { BufferTransport, Container, NODES_PER_BLOCK, SectionId } from '@spanline/graph';
import { clusterFile } from '@spanline/graph/internal';
import { storedBytes } from './find-traces.js';
import type { GroupTable } from './groups.js';
import { PARTS, SegmentSection } from './layout.js';
import { openSegmentFile, type SegmentFile } from './segment-file.js';

/** A cluster takes groups until it has so many bytes, and none that makes it more than twice as large. */
const CLUSTER_BYTES = 32 * 1024;
/** One of a trace that goes on from group to group has so many. */
const MAX_CLUSTER_BYTES = 1024 * 1024;

/** What opening by a card reads, in the order of a segment. */
const HEAD: ReadonlySet<number> = new Set([
  SegmentSection.tables,
  SegmentSection.models,
  SegmentSection.groups,
  SegmentSection.summary,
  SectionId.nodeTable,
  SectionId.dictionaryIndex,
  SectionId.meta,
]);

interface Range {
  readonly offset: number;
  readonly length: number;
}

const between = (offset: number, end: number): Range[] => (end > offset ? [{ offset, length: end - offset }] : []);

/** From the first to the last of some ranges, which lie one behind the other. */
const stretchOf = (ranges: readonly Range[]): Range[] => {
  const last = ranges.at(-1);
  return last === undefined ? [] : between(ranges[0].offset, last.offset + last.length);
};

/** The segment in `bytes`, clustered; an unsorted one, in which a trace costs a block, as it is, and so one that is clustered. Rejects as opening it does. */
export const clusteredSegment = async (bytes: Buffer): Promise<Buffer> => {
  const transport = new BufferTransport(bytes);
  const container = await Container.open(transport);
  const isClustered = container.transport !== transport;
  if (isClustered || container.find(SegmentSection.batches) !== undefined) return bytes;
  const file = await openSegmentFile(transport, {}, container);
  const clusters = await clustersOf(file);
  const rows = container.sections.filter(({ id }) => id === SegmentSection.traceRows).map(rangeOf);
  const end = Math.max(0, ...container.sections.map(({ offset, storedLength }) => offset + storedLength));
  const head = [
    ...container.sections
      .filter(({ id }) => HEAD.has(id))
      .map(rangeOf)
      .sort((a, b) => a.offset - b.offset),
    // Table of contents and footer.
    ...between(end, bytes.length),
  ];
  const rest = leftOver([...clusters.flat(), ...rows, ...head], bytes.length);
  const searched = [...rest, ...rows].sort((a, b) => a.offset - b.offset);
  return clusterFile(
    bytes,
    clusters,
    [...searched, ...head].filter(({ length }) => length > 0),
  );
};

const rangeOf = ({ offset, storedLength }: { readonly offset: number; readonly storedLength: number }): Range => ({
  offset,
  length: storedLength,
});

/** What `ranges` leave of a file. */
const leftOver = (ranges: readonly Range[], size: number): Range[] => {
  const left: Range[] = [];
  let at = 0;
  for (const { offset, length } of [...ranges].sort((a, b) => a.offset - b.offset)) {
    left.push(...between(at, offset));
    at = Math.max(at, offset + length);
  }
  return [...left, ...between(at, size)];
};

const clustersOf = async (file: SegmentFile): Promise<Range[][]> => {
  const { groups, dictionary, parents } = file;
  const [keys, references] = [await dictionary.blockRanges(), parents.ranges('references')];
  const { blockKeys, keyCount } = dictionary;
  const keyBytes = keys.reduce((sum, { length }) => sum + length, 0) / Math.max(1, keyCount);
  // The keys of a trace in several groups are where it begins.
  const rankAt = (group: number): number => {
    let first = group;
    while (groups.isContinued(first)) first++;
    return first < groups.count ? groups.firstRanks[first] : keyCount;
  };
  return runsOf(groups, (group) => storedBytes(file, group) + keyBytes * (rankAt(group + 1) - rankAt(group))).map(
    ({ first, end }) => [
      ...stretchOf(blocksOf(keys, blockKeys, rankAt(first), rankAt(end))),
      ...stretchOf(blocksOf(references, NODES_PER_BLOCK, groups.firsts[first], groups.firsts[end])),
      ...PARTS.flatMap((part) => {
        const refs = Array.from({ length: end - first }, (_, i) => groups.ref(part, first + i) ?? []).flat();
        return stretchOf(refs.map(rangeOf));
      }),
    ],
  );
};

/** The blocks of so many things each that have those from `start` to before `end`. */
const blocksOf = (blocks: readonly Range[], size: number, start: number, end: number): readonly Range[] =>
  end > start ? blocks.slice(Math.floor(start / size), Math.ceil(end / size)) : [];

/** The groups of each cluster. */
const runsOf = (
  groups: GroupTable,
  bytesOf: (group: number) => number,
): { readonly first: number; readonly end: number }[] => {
  const runs: { first: number; end: number }[] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (let group = 0; group < groups.count; group++) {
    const own = bytesOf(group);
    // What is read for one trace must not lie apart because of another.
    const isFull = groups.isContinued(group)
      ? bytes >= MAX_CLUSTER_BYTES
      : bytes >= CLUSTER_BYTES || bytes + own > 2 * CLUSTER_BYTES || groups.isContinued(group + 1);
    if (isFull) {
      runs.push({ first: group, end: group });
      bytes = 0;
    }
    runs[runs.length - 1].end = group + 1;
    bytes += own;
  }
  return runs;
};
