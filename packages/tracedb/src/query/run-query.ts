// Runs a plan on one tile as a stream of ids: its nodes, and the reads that all queries on one table hold open. No more streams are opened than
// `MAX_OPEN_LEAVES`: a condition with more values is checked on the ids of another, and when no condition is small enough the whole tile is walked. A
// merge waits for all its streams, so a query must get all its slots at once: two that each held a half would wait for each other for ever. The first
// failure ends every read and rejects: an answer is whole or it is an error.

import { Span } from 'spanline';
import { getOrMake, onAbort } from 'spanline/internal/base';
import { childSpan, failSpan } from '../node-span.js';
import { CallGuard } from '../table/call-guard.js';
import type { CallOptions, ReadOptions, WideColumnTable } from '../table/wide-column-table.js';
import { invalidInput, TraceDbError } from '../tracedb-error.js';
import { type IdNode, type IdStream, Leaf, Union } from './id-node.js';
import { Intersection, type IntersectionInput } from './intersection.js';
import type { Plan, PlannedCondition, PlannedValue } from './plan.js';

/** Streams open at a time on one table, below the hundred that a gRPC channel carries. */
export const MAX_OPEN_LEAVES = 64;

interface Waiting {
  readonly slots: number;
  readonly start: () => void;
}

/** The slots of one table. */
export class ReadSlots {
  #free = MAX_OPEN_LEAVES;
  readonly #queue: Waiting[] = [];
  #waited = 0;

  /** Wait for `slots` in the order of asking; call the result to give them back. */
  async take(slots: number, signal: AbortSignal): Promise<() => void> {
    if (slots > MAX_OPEN_LEAVES) {
      throw invalidInput(
        `a query needs ${slots} streams at once, and ${MAX_OPEN_LEAVES} is the limit; use fewer shards`,
      );
    }
    if (this.#queue.length > 0 || this.#free < slots) {
      this.#waited++;
      await this.#wait(slots, signal);
    } else {
      this.#free -= slots;
    }
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#free += slots;
      this.#startNext();
    };
  }

  stats(): { readonly open: number; readonly waiting: number; readonly waited: number } {
    return { open: MAX_OPEN_LEAVES - this.#free, waiting: this.#queue.length, waited: this.#waited };
  }

  #wait(slots: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        slots,
        start: () => {
          unlink();
          resolve();
        },
      };
      const leave = (): void => {
        const at = this.#queue.indexOf(waiting);
        if (at !== -1) this.#queue.splice(at, 1);
        reject(signal.reason as Error);
        // The one behind may need less.
        this.#startNext();
      };
      const unlink = onAbort(signal, leave);
      if (signal.aborted) {
        leave();
        return;
      }
      this.#queue.push(waiting);
    });
  }

  #startNext(): void {
    for (let next = this.#queue[0]; next !== undefined && next.slots <= this.#free; next = this.#queue[0]) {
      this.#queue.shift();
      this.#free -= next.slots;
      next.start();
    }
  }
}

const slotsOfTables = new WeakMap<WideColumnTable, ReadSlots>();

/** The slots that all queries on `table` share. */
export const readSlotsOf = (table: WideColumnTable): ReadSlots =>
  getOrMake(slotsOfTables, table, () => new ReadSlots());

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

const startSpan = (name: string, parent: Span | undefined): Span | undefined =>
  parent?.isRecording ? Span.start(name, parent) : undefined;

const leafOf = ({ table, options }: QueryTarget, prefix: string, span: Span | undefined): Leaf =>
  new Leaf({ table, prefix, options }, span);

const valueLeafOf = (
  target: QueryTarget,
  { key, keyIndex }: PlannedCondition,
  { value, valueIndex }: PlannedValue,
  parent: Span | undefined,
): Leaf => {
  const span = startSpan('query.leaf', parent);
  span?.describe(['key', key, 'value', value]);
  return leafOf(target, target.layout.indexPrefix(keyIndex, valueIndex), span);
};

/** The stream of one condition: a leaf for one value, a union for several. */
const streamOf = (target: QueryTarget, condition: PlannedCondition, parent: Span | undefined): IdStream => {
  const { key, values } = condition;
  const [only] = values;
  if (values.length === 1 && only !== undefined) return valueLeafOf(target, condition, only, parent);
  const span = startSpan('query.union', parent)?.addProperty('key', key).addProperty('values', values.length);
  const leaves = values.map((value) => valueLeafOf(target, condition, value, span));
  return new Union(leaves, span);
};

const testOf = ({ keyIndex, values }: PlannedCondition): ((id: string) => boolean) =>
  idFilter(keyIndex, new Set(values.map(({ valueIndex }) => valueIndex)));

/** All ids of the tile: its trace rows, whose shards are merged. */
const scanOf = (target: QueryTarget, parent: Span | undefined): IdStream => {
  const { tracePrefixes } = target.layout;
  const span = startSpan('query.scan', parent)?.addProperty('shards', tracePrefixes.length);
  const leaves = tracePrefixes.map((prefix, shard) =>
    leafOf(target, prefix, startSpan('query.leaf', span)?.addProperty('shard', shard)),
  );
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
  const span = startSpan('query.intersection', parent)?.addProperty('conditions', plan.conditions.length);
  const inputs = streams.map(
    (condition): IntersectionInput => ({ node: streamOf(target, condition, span), test: testOf(condition) }),
  );
  // With nothing small enough to read, the tile's own rows are.
  const [first = { node: scanOf(target, span), test: () => true }, ...rest] = inputs;
  return new Intersection([first, ...rest], checks.map(testOf), span);
};

/** What a plan is run with. */
export interface RunOptions extends CallOptions {
  /** For the span: which tile. */
  readonly tile: number;
}

/** Why reads are aborted when the caller wants no more. */
const LEFT = new TraceDbError('ERR_SPANLINE_ABORTED', 'the query was left by its caller');

async function* run(
  table: WideColumnTable,
  plan: Plan,
  layout: TileLayout,
  { tile, ...options }: RunOptions,
  abort: AbortController,
): AsyncGenerator<readonly string[], undefined, void> {
  if (plan.kind === 'empty') return;
  const guard = new CallGuard(`a query on ${table.location}`, options);
  const span = childSpan('query')?.addProperty('tile', tile);
  let root: IdNode | undefined;
  let release: (() => void) | undefined;
  guard.whenStopped((error) => {
    abort.abort(error);
    // The reads have ended with that. A caller who never asks again would keep the slots from all others, and the spans open.
    release?.();
    root?.close().catch(() => {});
    failSpan(span, error);
    span?.end();
  });
  let ids = 0;
  try {
    guard.check();
    release = await readSlotsOf(table).take(leavesOf(plan, layout), abort.signal);
    const target = { table, layout, options: { signal: abort.signal, deadlineMs: options.deadlineMs } };
    root = buildNodes(plan, target, span);
    for (let batch = await root.next(); batch !== undefined; batch = await root.next()) {
      guard.check();
      ids += batch.length;
      yield batch;
      guard.check();
    }
  } catch (error) {
    if (abort.signal.reason === LEFT) return;
    // Siblings of the read that failed must not go on; what they reject with is not the reason.
    abort.abort(error);
    failSpan(span, guard.stopped ?? error);
    throw guard.stopped ?? error;
  } finally {
    await root?.close().catch(() => {});
    release?.();
    span?.addProperty('ids.out', ids).end();
    guard.dispose();
  }
}

/**
 * The encoded ids of the traces a plan selects, ascending, in batches; nothing is read before the first batch is asked for, and
 * nothing stays open after the last, a `break` or a failure.
 */
export const runPlan = (
  table: WideColumnTable,
  plan: Plan,
  layout: TileLayout,
  options: RunOptions,
): AsyncGenerator<readonly string[], undefined, void> => {
  const abort = new AbortController();
  const batches = run(table, plan, layout, options, abort);
  const end = batches.return.bind(batches);
  // A generator by itself would first wait for the batch that is on its way, however long that takes.
  batches.return = (value) => {
    abort.abort(LEFT);
    return end(value);
  };
  return batches;
};
