// Runs a plan on one tile as a stream of ids. The first failure ends every read and rejects: an answer is whole or it is an error.
import { childSpan, failSpan } from '../node-span.js';
import { CallGuard } from '../table/call-guard.js';
import type { CallOptions, WideColumnTable } from '../table/wide-column-table.js';
import { TraceDbError } from '../tracedb-error.js';
import { buildNodes, leavesOf, type TileLayout } from './build-nodes.js';
import type { IdNode } from './id-node.js';
import type { Plan } from './plan.js';
import { readSlotsOf } from './read-slots.js';

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
  const span = childSpan('query', { properties: () => ({ tile }) });
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
    span?.addProperty('ids.out', ids);
    span?.end();
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
