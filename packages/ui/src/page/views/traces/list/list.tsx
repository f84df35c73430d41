// The search: its conditions, when and how long the traces were, and a table of them, sorted as one likes, opened, and chosen to be compared. What is
// typed is kept here until the form is sent: then it goes into the address, and from there into the question.

import { useEffect, useState } from 'preact/hooks';
import type { TraceRow, TracesAnswer, ValuesAnswer } from '../../../../api/answers.js';
import { useGet } from '../../../api/client.js';
import { Options } from '../../../shell/controls.js';
import { goTo, hrefOf, type ViewProps } from '../../../shell/location.js';
import { Answer, Empty } from '../../../shell/states.js';
import { duration, moment, Scrolling, Status } from '../../../shell/texts.js';
import { chosenIn, type Field, fieldsOf, searchOf, toggled, useTraceLinks } from '../address.js';
import { Scatter } from '../scatter/scatter.js';
import './list.css';

const TEXTS: readonly (readonly [name: Field, words: string, example: string, size: number])[] = [
  ['min', 'at least', '100ms', 8],
  ['max', 'at most', '2s', 8],
  ['from', 'from', '15m or 2026-01-31T12:00 UTC', 27],
  ['to', 'to', '5m or 2026-01-31T13:00 UTC', 27],
  ['properties', 'properties', 'http.route=/orders user="Ada L"', 26],
];
const LIMITS = ['50', '200', '500', '1500'];
const DEFAULT_LIMIT = '200';

export const Form = ({ parameters }: { parameters: Readonly<Record<string, string>> }) => {
  const { snapshot } = parameters;
  const given = fieldsOf(parameters);
  const [draft, setDraft] = useState(given);
  // The address counts whenever it changes: by a link, Clear, or the browser's way back.
  useEffect(() => setDraft(given), [JSON.stringify(given)]);
  const { service = '' } = draft;
  const { value } = useGet<ValuesAnswer>('traces/values', { snapshot, service });
  const field = (name: Field) => ({
    name,
    value: draft[name] ?? '',
    onInput: ({ currentTarget: { value } }: { readonly currentTarget: { readonly value: string } }): void =>
      setDraft((before) => ({ ...before, [name]: value })),
  });
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    // A page and a window of the scatter are of the search before.
    goTo('traces', { ...parameters, ...draft, before: undefined, picked: undefined });
  };
  const services = new Set([...(value?.services ?? []), ...(service === '' ? [] : [service])]);
  const limits = new Set([...LIMITS, draft.limit ?? DEFAULT_LIMIT]);
  return (
    <form class="flow" onSubmit={send}>
      <label>
        service{' '}
        <select {...field('service')}>
          <option value="">all</option>
          <Options of={services} />
        </select>
      </label>
      <label>
        span name <input {...field('name')} list="operations" placeholder="GET /orders" />
      </label>
      <datalist id="operations">
        {value?.operations.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <label>
        status{' '}
        <select {...field('status')}>
          <option value="">any</option>
          <Options of={['error', 'ok', 'unset']} />
        </select>
      </label>
      {TEXTS.map(([name, words, example, size]) => (
        <label key={name}>
          {words} <input {...field(name)} placeholder={example} size={size} />
        </label>
      ))}
      <label>
        list{' '}
        <select {...field('limit')} value={draft.limit ?? DEFAULT_LIMIT}>
          <Options of={limits} />
        </select>
      </label>
      <button type="submit">Search</button>
      <button type="button" onClick={() => goTo('traces', { snapshot })}>
        Clear
      </button>
    </form>
  );
};

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
    <Scrolling label="traces">
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
    </Scrolling>
  );
};

const Choice = ({ parameters }: Pick<ViewProps, 'parameters'>) => {
  const [a, b] = chosenIn(parameters);
  const { snapshot } = parameters;
  if (a === undefined) return null;
  return (
    <p role="status">
      {b === undefined ? (
        '1 of 2 chosen to be compared'
      ) : (
        <a href={hrefOf('traces/compare', { snapshot, a, b })}>Compare the two</a>
      )}
    </p>
  );
};

/** A search that was ended by its bound, and how to go on. */
const Ended = ({ endedAtUs, next, parameters }: Omit<TracesAnswer, 'traces'> & Pick<ViewProps, 'parameters'>) =>
  endedAtUs === undefined ? null : (
    <p class="ended">
      The search was ended, having read as much of the archive as one may: of traces from {moment(endedAtUs)} and before
      some are missing.{' '}
      {next === undefined ? (
        'Ask for less: a shorter time, or more conditions.'
      ) : (
        <a href={hrefOf('traces', { ...parameters, before: next })}>Search on from there</a>
      )}
    </p>
  );

const Found = (found: TracesAnswer & Pick<ViewProps, 'parameters'>) => {
  const { traces, next, endedAtUs, parameters } = found;
  const { before } = parameters;
  if (traces.length === 0 && endedAtUs !== undefined) return <Ended {...found} />;
  if (traces.length === 0)
    return (
      <Empty
        title={before === undefined ? 'No trace meets this' : 'There is no older one'}
        command="node --import spanline/register app.js   (with SPANLINE_ARCHIVE=./traces)"
      >
        <p>Ask for less, or send traces to the archive.</p>
      </Empty>
    );
  return (
    <>
      <p role="status">
        {traces.length} traces{next !== undefined && (before === undefined ? ', the newest' : ', older ones')} ·{' '}
        <a href={hrefOf('traces/groups', searchOf(parameters))}>by shape</a>
      </p>
      <Ended {...found} />
      <Choice parameters={parameters} />
      <TraceTable traces={traces} parameters={parameters} />
      <p class="flow">
        {before !== undefined && <a href={hrefOf('traces', { ...parameters, before: undefined })}>Newest</a>}{' '}
        {next !== undefined && <a href={hrefOf('traces', { ...parameters, before: next })}>Older</a>}
      </p>
    </>
  );
};

const List = ({ parameters }: ViewProps) => {
  const asked = { ...searchOf(parameters), before: parameters.before };
  const answer = useGet<TracesAnswer>('traces', asked);
  return (
    <>
      <h1>Traces</h1>
      <Form parameters={parameters} />
      <Scatter parameters={parameters} />
      <Answer of={answer}>{(found) => <Found {...found} parameters={parameters} />}</Answer>
    </>
  );
};
export default List;
