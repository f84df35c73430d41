// Detached local spans to records without a reporter: for tests, logs and tools that want them at once.
import { takeAnchor } from '../clock/index.js';
import type { LocalSpans } from '../local-span/local-collector.js';
import { wrongArgument } from '../local-span/misuse.js';
import type { SpanRecord } from '../record/record.js';
import { RowStore } from '../rows/row-store.js';
import { ActiveTrace, type TraceSink } from '../span/active-trace.js';
import { isContext, localSpansArgument } from '../span/arguments.js';
import { never } from '../span/sampler.js';
import { SpanContext } from '../span/span-context.js';
import { takeTraces } from './trace-part.js';

const UNBOUNDED = Number.POSITIVE_INFINITY;

// Accepts what it is given and reports nothing.
const NOWHERE: TraceSink = {
  sampler: never,
  limits: {
    maxSpansPerTrace: UNBOUNDED,
    maxPropertiesPerSpan: UNBOUNDED,
    maxEventsPerSpan: UNBOUNDED,
    maxLinksPerSpan: UNBOUNDED,
  },
  rows: new RowStore(),
  opened() {},
  ended() {},
  cancelled() {},
  grew() {},
  outcomeOf: () => 'dropped',
  returned() {},
};

/**
 * Turn collected local spans into records, as children of `parent` (a new random trace when left out).
 *
 * @example
 * ```ts
 * const [, spans] = LocalCollector.run(() => LocalSpan.start('parse').end());
 * for (const record of toRecords(spans)) console.log(record.name, record.durationNs);
 * ```
 */
export const toRecords = (spans: LocalSpans, parent?: SpanContext): readonly SpanRecord[] => {
  const context = isContext(parent) ? parent : SpanContext.random();
  if (context !== parent && parent !== undefined && parent !== null) {
    wrongArgument('toRecords(spans, parent) takes a SpanContext for the parent: span.context.');
  }
  const trace = new ActiveTrace(context, NOWHERE);
  const place = { parentHi: context.idHi, parentLo: context.idLo };
  for (const batch of localSpansArgument(spans)?.batches ?? []) trace.mount(batch, place);
  const { rows } = NOWHERE;
  const [part] = takeTraces(Int32Array.of(trace.number), { rows, anchor: takeAnchor() });
  rows.traces.release(trace.number);
  return part?.spans ?? [];
};
