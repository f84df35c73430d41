// Turns a plan into the nodes that run it. It opens no more streams than `MAX_OPEN_LEAVES`: a condition with more values is checked
// on the ids of another, and when no condition is small enough the whole tile is walked.
import { Span } from '../../span/span.js';
import { under } from '../node-span.js';
import { prefixEnd } from '../table/byte-order.js';
import type { ReadOptions, WideColumnTable } from '../table/wide-column-table.js';
import { idFilter } from './id-filter.js';
import type { IdNode } from './id-node.js';
import { Intersection, type IntersectionInput } from './intersection.js';
import { Leaf } from './leaf.js';
import type { Plan, PlannedCondition } from './plan.js';
import { MAX_OPEN_LEAVES } from './read-slots.js';
import { Union } from './union.js';

/** Where a tile keeps its ids. */
export interface TileLayout {
  /** What the keys of the index rows of one value begin with; the id follows. Places as in the ordered param set. */
  readonly indexPrefix: (keyIndex: number, valueIndex: number) => string;
  /** What the keys of the tile's trace rows begin with, one for each shard; the id follows. */
  readonly tracePrefixes: readonly string[];
}

/** What a query runs on. */
export interface QueryTarget {
  readonly table: WideColumnTable;
  readonly layout: TileLayout;
  readonly options: ReadOptions;
}

const startSpan = (name: string, parent: Span | undefined, properties: () => Record<string, string | number>) =>
  parent?.isRecording ? Span.start(name, parent, { properties }) : undefined;

const leafOf = (
  { table, options }: QueryTarget,
  prefix: string,
  parent: Span | undefined,
  what: () => Record<string, string | number>,
): Leaf => new Leaf({ table, prefix, options }, startSpan('query.leaf', parent, what));

/** The stream of one condition: a leaf for one value, a union for several. */
const streamOf = (
  target: QueryTarget,
  { key, keyIndex, values }: PlannedCondition,
  parent: Span | undefined,
): IdNode => {
  const prefixOf = (valueIndex: number) => target.layout.indexPrefix(keyIndex, valueIndex);
  const [only] = values;
  if (values.length === 1 && only !== undefined) {
    return leafOf(target, prefixOf(only.valueIndex), parent, () => ({ key, value: only.value }));
  }
  const span = startSpan('query.union', parent, () => ({ key, values: values.length }));
  const leaves = values.map(({ value, valueIndex }) =>
    leafOf(target, prefixOf(valueIndex), span, () => ({ key, value })),
  );
  return new Union(leaves, span);
};

/** The first id of a condition that is not below `id`: a read of one row for each value. */
const seekOf =
  ({ table, layout, options }: QueryTarget, { keyIndex, values }: PlannedCondition, parent: Span | undefined) =>
  async (id: string): Promise<string | undefined> => {
    let lowest: string | undefined;
    for (const { valueIndex } of values) {
      const prefix = layout.indexPrefix(keyIndex, valueIndex);
      const end = prefixEnd(prefix)?.toString();
      const keys = under(parent, () => table.readKeys({ start: prefix + id, end }, { ...options, limit: 1 }));
      for await (const [key] of keys) {
        const found = (key as string).slice(prefix.length);
        if (lowest === undefined || found < lowest) lowest = found;
      }
      // Nothing can be lower.
      if (lowest === id) break;
    }
    return lowest;
  };

const testOf = ({ keyIndex, values }: PlannedCondition): ((id: string) => boolean) =>
  idFilter({ keyIndex, valueIndices: new Set(values.map(({ valueIndex }) => valueIndex)) });

/** All ids of the tile: its trace rows, whose shards are merged. */
const scanOf = (target: QueryTarget, parent: Span | undefined): IdNode => {
  const span = startSpan('query.scan', parent, () => ({ shards: target.layout.tracePrefixes.length }));
  const leaves = target.layout.tracePrefixes.map((prefix, shard) => leafOf(target, prefix, span, () => ({ shard })));
  return new Union(leaves, span);
};

/** Conditions that are read, and those that are only checked; ordered by their number of values already. */
const divide = (conditions: readonly PlannedCondition[]) => {
  let leaves = 0;
  let read = 0;
  for (const { values } of conditions) {
    if (leaves + values.length > MAX_OPEN_LEAVES) break;
    leaves += values.length;
    read++;
  }
  return { streams: conditions.slice(0, read), checks: conditions.slice(read), leaves };
};

/** How many streams the nodes of a plan will open. */
export const leavesOf = (plan: Plan, layout: TileLayout): number => {
  if (plan.kind === 'empty') return 0;
  if (plan.kind === 'all') return layout.tracePrefixes.length;
  return divide(plan.conditions).leaves || layout.tracePrefixes.length;
};

/** The root of the nodes that answer a plan which is not empty. */
export const buildNodes = (
  plan: Exclude<Plan, { kind: 'empty' }>,
  target: QueryTarget,
  parent: Span | undefined,
): IdNode => {
  if (plan.kind === 'all') return scanOf(target, parent);
  const { streams, checks } = divide(plan.conditions);
  const [only] = streams;
  if (plan.conditions.length === 1 && only !== undefined) return streamOf(target, only, parent);
  const span = startSpan('query.intersection', parent, () => ({ conditions: plan.conditions.length }));
  const inputs: IntersectionInput[] = streams.map((condition) => ({
    node: streamOf(target, condition, span),
    test: testOf(condition),
    seek: seekOf(target, condition, span),
  }));
  // With nothing small enough to read, the tile's own rows are the input; they never end before the answer does.
  if (inputs.length === 0) inputs.push({ node: scanOf(target, span), test: () => true, seek: async (id) => id });
  return new Intersection(inputs, checks.map(testOf), span);
};
