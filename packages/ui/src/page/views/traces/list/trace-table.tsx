// Traces as a table: sorted as one likes, opened, and chosen to be compared.
import type { TraceRow } from '../../../../api/traces/answers.js';
import { goTo, type ViewProps } from '../../../shell/location.js';
import { Status } from '../../../shell/status.js';
import { duration, moment } from '../../../shell/units.js';
import { chosenIn, toggled, useTraceLinks } from '../address.js';

/** Columns one can sort by. */
const ORDERS = {
  start: (a: TraceRow, b: TraceRow) => b.startUs - a.startUs,
  duration: (a: TraceRow, b: TraceRow) => b.durationUs - a.durationUs,
  spans: (a: TraceRow, b: TraceRow) => b.spanCount - a.spanCount,
  errors: (a: TraceRow, b: TraceRow) => b.errorCount - a.errorCount,
} as const;
type Order = keyof typeof ORDERS;

const isOrder = (text: string | undefined): text is Order => text !== undefined && Object.hasOwn(ORDERS, text);

type Parameters = ViewProps['parameters'];

const Sorted = ({ by, order, parameters }: { by: Order; order: Order; parameters: Parameters }) => (
  <th class={by === 'start' ? undefined : 'number'} aria-sort={by === order ? 'descending' : undefined}>
    <button type="button" onClick={() => goTo('traces', { ...parameters, sort: by }, true)}>
      {by} {by === order ? '↓' : ''}
    </button>
  </th>
);

export const TraceTable = ({ traces, parameters }: { traces: readonly TraceRow[]; parameters: Parameters }) => {
  const order = isOrder(parameters.sort) ? parameters.sort : 'start';
  const sorting = { order, parameters };
  const chosen = chosenIn(parameters);
  const links = useTraceLinks();
  const toggle = (id: string): void => goTo('traces', { ...parameters, ...toggled(chosen, id) }, true);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard.
    <section class="scroll" tabIndex={0} aria-label="traces">
      <table class="traces">
        <thead>
          <tr>
            <th>compare</th>
            <Sorted by="start" {...sorting} />
            <Sorted by="duration" {...sorting} />
            <th>status</th>
            <Sorted by="spans" {...sorting} />
            <Sorted by="errors" {...sorting} />
            <th>service</th>
            <th>name</th>
          </tr>
        </thead>
        <tbody>
          {traces.toSorted(ORDERS[order]).map((trace) => {
            const id = `trace:${trace.traceId}`;
            const isChosen = chosen.includes(id);
            return (
              <tr key={trace.traceId}>
                <td>
                  <input
                    type="checkbox"
                    checked={isChosen}
                    disabled={!isChosen && chosen.length >= 2}
                    aria-label={`compare ${trace.name}, ${trace.traceId.slice(0, 8)}`}
                    onChange={() => toggle(id)}
                  />
                </td>
                <td>{moment(trace.startUs)}</td>
                <td class="number">{duration(trace.durationUs)}</td>
                {trace.status === undefined ? (
                  <td title="not read: these traces have too many spans">?</td>
                ) : (
                  <td>
                    <Status {...trace.status} />
                  </td>
                )}
                <td class="number" title={trace.isComplete ? undefined : 'a parent is absent'}>
                  {trace.spanCount}
                  {!trace.isComplete && '?'}
                </td>
                <td class={trace.errorCount > 0 ? 'number failed' : 'number'}>{trace.errorCount}</td>
                <td>{trace.service}</td>
                <td>
                  <a href={links.hrefOf(trace.traceId)}>{trace.name || '(no name)'}</a>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
};
