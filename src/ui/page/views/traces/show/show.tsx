// One trace: the waterfall, what is known of the selected span, and where its time went. The address holds the trace and the span.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { TraceAnswer } from '../../../../api/trace/answers.js';
import { get, getBytes } from '../../../api/client.js';
import { useRequest } from '../../../api/use-request.js';
import { useKeys } from '../../../shell/keys.js';
import { goTo } from '../../../shell/location.js';
import { Answer, Empty } from '../../../shell/states.js';
import { duration, moment } from '../../../shell/units.js';
import type { ViewProps } from '../../../shell/view-props.js';
import { Details } from './details.js';
import { DivisionBar } from './division.js';
import { Waterfall } from './waterfall.js';
import './show.css';

const FORMATS = { jaeger: 'for Jaeger UI', otlp: 'as OTLP' } as const;

const save = async (traceId: string, format: keyof typeof FORMATS): Promise<void> => {
  const bytes = await getBytes('trace/file', { id: traceId, format });
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${traceId}.${format}.json`;
  link.click();
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
};

const copy = async (traceId: string): Promise<void> => {
  const bytes = await getBytes('trace/file', { id: traceId, format: 'otlp' });
  await navigator.clipboard.writeText(new TextDecoder().decode(bytes));
};

const namesLike = ({ names, spans }: TraceAnswer, text: string): ReadonlySet<number> => {
  if (text === '') return new Set();
  const wanted = text.toLowerCase();
  const fit = names.map((name) => name.toLowerCase().includes(wanted));
  return new Set(spans.name.flatMap((name, place) => (fit[name] ? [place] : [])));
};

const Shown = ({ trace, span }: { trace: TraceAnswer; span: string }) => {
  const { traceId, spans } = trace;
  const selected = Math.max(0, spans.ids.indexOf(span));
  const [text, setText] = useState('');
  const [done, setDone] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const found = useMemo(() => namesLike(trace, text), [trace, text]);
  const select = (place: number): void => goTo('traces/show', { id: traceId, span: spans.ids[place] }, true);
  const next = (by: 1 | -1): void => {
    const places = [...found];
    const place =
      by === 1
        ? (places.find((one) => one > selected) ?? places[0])
        : (places.findLast((one) => one < selected) ?? places.at(-1));
    if (place !== undefined) select(place);
  };
  useKeys([
    { key: '/', does: 'search in names', act: () => field.current?.focus() },
    { key: 'n', does: 'next found', act: () => next(1) },
    { key: 'N', does: 'found before', act: () => next(-1) },
  ]);
  const doing = (what: Promise<void>, words: string): void => {
    what.then(
      () => setDone(words),
      (error: Error) => setDone(error.message),
    );
  };
  useEffect(() => setDone(''), [traceId]);
  const root = trace.divisions.find((division) => division.span === 0);
  return (
    <>
      <h1>{trace.name}</h1>
      <p>
        {duration(trace.durationUs)}, {spans.ids.length} spans, {spans.isError.filter((one) => one === 1).length}{' '}
        errors, {trace.services.join(', ')}, {moment(trace.startUnixUs)} UTC <span class="mono muted">{traceId}</span>
      </p>
      {trace.leftOut > 0 && <p role="status">{trace.leftOut} more spans are not drawn.</p>}
      <p class="actions">
        <input
          ref={field}
          type="search"
          placeholder="search in names"
          aria-label="search in names"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'Enter' && next(event.shiftKey ? -1 : 1)}
        />
        {text !== '' && <span role="status">{found.size} found</span>}
        <button type="button" onClick={() => doing(copy(traceId), 'copied')}>
          Copy as JSON
        </button>
        {Object.entries(FORMATS).map(([format, words]) => (
          <button
            key={format}
            type="button"
            onClick={() => doing(save(traceId, format as keyof typeof FORMATS), 'saved')}
          >
            Save {words}
          </button>
        ))}
        <span role="status">{done}</span>
      </p>
      {root !== undefined && <DivisionBar division={root} />}
      <div class="show">
        <Waterfall trace={trace} selected={selected} select={select} found={found} />
        <Details trace={trace} place={selected} />
      </div>
    </>
  );
};

const Show = ({ parameters }: ViewProps) => {
  const { id, span = '' } = parameters;
  const answer = useRequest(id, (signal) => get<TraceAnswer>('trace', { id }, signal));
  if (id === undefined) return <Empty title="Which trace?" command="#/traces/show?id=…" />;
  return <Answer of={answer}>{(trace) => <Shown key={trace.traceId} trace={trace} span={span} />}</Answer>;
};
export default Show;
