// Turns a plan into the nodes that run it. It opens no more streams than `MAX_OPEN_LEAVES`: a condition with more values is checked
// on the ids of another, and when no condition is small enough the whole tile is walked.
import { Span } from 'spanline';
import type { ReadOptions, WideColumnTable } from '../table/wide-column-table.js';
import type { IdNode, IdStream } from './id-node.js';
import { Intersection, type IntersectionInput } from './intersection.js';
import { Leaf } from './leaf.js';
import type { Plan, PlannedCondition } from './plan.js';
import { MAX_OPEN_LEAVES } from './read-slots.js';
import { Union } from './union.js';

const COMMA = 44;
const ZERO = 48;

/** Tells from an id, `,<key>=<value>,<key>=<value>,`, whether it has one of these values, as places in the ordered param set. Agrees with the index. */
export const idFilter = (keyIndex: number, valueIndices: ReadonlySet<number>): ((id: string) => boolean) => {
  const needle = `,${keyIndex}=`;
  const [only] = valueIndices;
  if (valueIndices.size === 1) {
    const pair = `${needle}${only},`;
    return (id) => id.includes(pair);
  }
  return (id) => {
    const at = id.indexOf(needle);
    if (at === -1) return false;
    let value = 0;
    for (let i = at + needle.length; ; i++) {
      const char = id.charCodeAt(i);
      // NaN past the end of a malformed id compares false to all and would loop; stop there too.
      if (char === COMMA || Number.isNaN(char)) break;
      value = value * 10 + char - ZERO;
    }
    return valueIndices.has(value);
  };
};

/** Where a tile keeps its ids. */
export interface TileLayout {
  /** What the keys of the index rows of one value begin with; the id follows. Places as in the ordered param set. */
  readonly indexPrefix: (keyIndex: number, valueIndex: number) => string;
  /** What the keys of the tile's trace rows begin with, one for each shard; the id follows. */
  readonly tracePrefixes: readonly string[];
}

/** What a query runs on. */
interface QueryTarget {
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
): IdStream => {
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

const testOf = ({ keyIndex, values }: PlannedCondition): ((id: string) => boolean) =>
  idFilter(keyIndex, new Set(values.map(({ valueIndex }) => valueIndex)));

/** All ids of the tile: its trace rows, whose shards are merged. */
const scanOf = (target: QueryTarget, parent: Span | undefined): IdStream => {
  const span = startSpan('query.scan', parent, () => ({ shards: target.layout.tracePrefixes.length }));
  const leaves = target.layout.tracePrefixes.map((prefix, shard) => leafOf(target, prefix, span, () => ({ shard })));
  return new Union(leaves, span);
};

/** The share of a tile's traces that meet a condition, if they have its values in equal parts. */
const shareOf = ({ values, known }: PlannedCondition): number => values.length / known;

/** Conditions that can be read, with the likely rarest first, and those that are only checked. */
const divide = (conditions: readonly PlannedCondition[]) => {
  const streams: PlannedCondition[] = [];
  const checks: PlannedCondition[] = [];
  let leaves = 0;
  for (const condition of [...conditions].sort((a, b) => shareOf(a) - shareOf(b))) {
    const isRead = leaves + condition.values.length <= MAX_OPEN_LEAVES;
    if (isRead) leaves += condition.values.length;
    (isRead ? streams : checks).push(condition);
  }
  return { streams, checks, leaves };
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
  const inputs = streams.map(
    (condition): IntersectionInput => ({ node: streamOf(target, condition, span), test: testOf(condition) }),
  );
  // With nothing small enough to read, the tile's own rows are.
  const [first = { node: scanOf(target, span), test: () => true }, ...rest] = inputs;
  return new Intersection([first, ...rest], checks.map(testOf), span);
};
