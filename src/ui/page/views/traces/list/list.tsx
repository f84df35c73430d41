// The traces that meet the conditions, in the order that is chosen.
import type { TraceRow, TracesAnswer } from '../../../../api/traces/answers.js';
import { get } from '../../../api/client.js';
import { useRequest } from '../../../api/use-request.js';
import { goTo, hrefOf } from '../../../shell/location.js';
import { Answer, Empty } from '../../../shell/states.js';
import { duration, moment } from '../../../shell/units.js';
import type { ViewProps } from '../../../shell/view-props.js';
import { Form } from './form.js';
import './list.css';

/** Columns one can sort by. */
const ORDERS = {
  start: (a: TraceRow, b: TraceRow) => b.startUs - a.startUs,
  duration: (a: TraceRow, b: TraceRow) => b.durationUs - a.durationUs,
  spans: (a: TraceRow, b: TraceRow) => b.spanCount - a.spanCount,
  errors: (a: TraceRow, b: TraceRow) => b.errorCount - a.errorCount,
} as const;
type Order = keyof typeof ORDERS;

const isOrder = (text: string | undefined): text is Order => text !== undefined && Object.hasOwn(ORDERS, text);

const Sorted = ({ by, order, parameters }: { by: Order; order: Order; parameters: ViewProps['parameters'] }) => (
  <th class={by === 'start' ? undefined : 'number'} aria-sort={by === order ? 'descending' : undefined}>
    <button type="button" onClick={() => goTo('traces', { ...parameters, sort: by }, true)}>
      {by} {by === order ? '↓' : ''}
    </button>
  </th>
);

const List = ({ parameters }: ViewProps) => {
  const { sort, ...conditions } = parameters;
  const order = isOrder(sort) ? sort : 'start';
  const answer = useRequest(JSON.stringify(conditions), (signal) => get<TracesAnswer>('traces', conditions, signal));
  return (
    <>
      <h1>Traces</h1>
      <Form key={JSON.stringify(conditions)} conditions={conditions} />
      <Answer of={answer}>
        {({ traces, isFull }) =>
          traces.length === 0 ? (
            <Empty
              title="No trace meets this"
              command="node --import spanline/register app.js   (with SPANLINE_ARCHIVE=./traces)"
            >
              <p>Ask for less, or send traces to the archive.</p>
            </Empty>
          ) : (
            <>
              <p role="status">
                {traces.length} traces{isFull && ', the newest; there may be more'} ·{' '}
                <a href={hrefOf('traces/groups', conditions)}>by shape</a>
              </p>
              <div class="scroll">
                <table class="traces">
                  <thead>
                    <tr>
                      <Sorted by="start" order={order} parameters={parameters} />
                      <Sorted by="duration" order={order} parameters={parameters} />
                      <Sorted by="spans" order={order} parameters={parameters} />
                      <Sorted by="errors" order={order} parameters={parameters} />
                      <th>service</th>
                      <th>name</th>
                    </tr>
                  </thead>
                  <tbody>
                    {traces.toSorted(ORDERS[order]).map((trace) => (
                      <tr key={trace.traceId}>
                        <td>{moment(trace.startUs)}</td>
                        <td class="number">{duration(trace.durationUs)}</td>
                        <td class="number">
                          {trace.spanCount}
                          {!trace.isComplete && '?'}
                        </td>
                        <td class={trace.errorCount > 0 ? 'number failed' : 'number'}>{trace.errorCount}</td>
                        <td>{trace.service}</td>
                        <td>
                          <a href={hrefOf('traces/show', { id: trace.traceId })}>{trace.name || '(no name)'}</a>
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            </>
          )
        }
      </Answer>
    </>
  );
};
export default List;
