// One trace: the waterfall, what is known of the selected span, and where its time went. The address holds the trace and the span, the span only once
// a held key is let go: a browser takes no hundred changes of the address a second.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { LinkedFromAnswer, TraceAnswer } from '../../../../api/trace/answers.js';
import { useGet } from '../../../api/client.js';
import { useKeys } from '../../../shell/keys.js';
import { goTo, hrefOf, placeOf, type ViewProps } from '../../../shell/location.js';
import { Answer, Empty } from '../../../shell/states.js';
import { duration, moment } from '../../../shell/texts.js';
import { Actions, useFound } from './actions.js';
import { BreakdownBar, Details, useCpu } from './details.js';
import { Links } from './links.js';
import { Waterfall } from './waterfall.js';
import './show.css';

const SETTLE_MS = 200;
/** That it stands in. */
const VIEW = 'traces/show';

/** The selected span. */
interface Selection {
  readonly selected: number;
  readonly select: (place: number) => void;
  /** The span that the address names, where the trace has none of that id. */
  readonly absent: string | undefined;
}

/** What the address says, until the user selects another one. */
const useSelection = (
  { spans }: TraceAnswer,
  places: ReadonlyMap<string, number>,
  parameters: ViewProps['parameters'],
): Selection => {
  const { span = '', id, snapshot } = parameters;
  const [chosen, setChosen] = useState<number>();
  const written = useRef(span);
  const named = places.get(span);
  useEffect(() => {
    if (span === written.current) return;
    written.current = span;
    setChosen(undefined);
  }, [span]);
  useEffect(() => {
    if (chosen === undefined || spans.ids[chosen] === written.current) return;
    const timer = setTimeout(() => {
      // Somebody who has gone on to another trace meanwhile must not be taken back: this one is shown until that has come.
      const now = placeOf(location.hash);
      if (now.view !== VIEW || now.parameters.id !== id || now.parameters.snapshot !== snapshot) return;
      written.current = spans.ids[chosen];
      goTo(VIEW, { ...now.parameters, span: spans.ids[chosen] }, true);
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [chosen]);
  return {
    selected: chosen ?? named ?? 0,
    select: setChosen,
    absent: span !== '' && named === undefined && chosen === undefined ? span : undefined,
  };
};

type ShownProps = { readonly trace: TraceAnswer } & Pick<ViewProps, 'parameters' | 'sources'>;

const Facts = ({ trace, cpuNs }: { trace: TraceAnswer; cpuNs: number | undefined }) => {
  const { traceId, durationUs, spans, leftOut, services, startUnixUs } = trace;
  return (
    <>
      <p>
        {duration(durationUs)}, {spans.ids.length + leftOut} spans, {spans.isError.filter((one) => one === 1).length}{' '}
        errors, {services.join(', ')}, {moment(startUnixUs)} <span class="mono muted">{traceId}</span>
        {cpuNs !== undefined && (
          <>
            , CPU <a href={hrefOf('profiles', { trace: traceId })}>{duration(cpuNs / 1000)}</a>
          </>
        )}
      </p>
      {leftOut > 0 && (
        <p role="status">
          The first {spans.ids.length} spans are shown, in the order of the tree; {leftOut} are left out, of the search
          too. What is copied or saved has all.
        </p>
      )}
    </>
  );
};

const Shown = ({ trace, parameters, sources }: ShownProps) => {
  const { traceId, spans, links } = trace;
  const { snapshot } = parameters;
  const places = useMemo(() => new Map(spans.ids.map((id, place) => [id, place])), [trace]);
  const { selected, select, absent } = useSelection(trace, places, parameters);
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const found = useFound(trace, text, snapshot);
  const cpu = useCpu(traceId, places, sources.profiles);
  const linkedFrom = useGet<LinkedFromAnswer>('trace/linked', { snapshot, id: traceId });
  const [linked, innerLinks] = useMemo(() => {
    const incoming = (linkedFrom.value?.links ?? []).flatMap(({ to }) => places.get(to) ?? []);
    const inner = links.flatMap(({ from, traceId: to, spanId }) => {
      const place = to === traceId ? places.get(spanId) : undefined;
      return place === undefined ? [] : [{ from, to: place }];
    });
    return [new Set([...links.map(({ from }) => from), ...incoming]), inner] as const;
  }, [trace, linkedFrom.value]);
  const next = (by: 1 | -1): void => {
    const all = [...found.places];
    const place =
      by === 1 ? (all.find((one) => one > selected) ?? all[0]) : (all.findLast((one) => one < selected) ?? all.at(-1));
    if (place !== undefined) select(place);
  };
  useKeys([
    { key: '/', does: 'search in the spans', act: () => field.current?.focus() },
    { key: 'n', does: 'next found', act: () => next(1) },
    { key: 'N', does: 'found before', act: () => next(-1) },
  ]);
  const root = trace.breakdowns.find((breakdown) => breakdown.span === 0);
  return (
    <>
      <h1>{trace.name}</h1>
      <Facts trace={trace} cpuNs={cpu?.error === undefined ? cpu?.totalNs : undefined} />
      {absent !== undefined && (
        <p role="status" class="absent">
          This trace has no span <span class="mono">{absent}</span>: it was not recorded, or has not come yet.
        </p>
      )}
      <Actions
        traceId={traceId}
        snapshot={snapshot}
        field={field}
        text={text}
        setText={setText}
        found={found}
        next={next}
      />
      {root !== undefined && <BreakdownBar breakdown={root} of="the trace" />}
      <Links trace={trace} linkedFrom={linkedFrom} places={places} select={select} />
      <div class="show">
        <Waterfall
          trace={trace}
          selected={selected}
          select={select}
          found={found.places}
          linked={linked}
          innerLinks={innerLinks}
          cpu={cpu}
        />
        <Details trace={trace} place={selected} cpu={cpu} snapshot={snapshot} places={places} select={select} />
      </div>
    </>
  );
};

const Show = ({ parameters, sources }: ViewProps) => {
  const { id, snapshot } = parameters;
  const answer = useGet<TraceAnswer>(id !== undefined && 'trace', { snapshot, id });
  if (id === undefined) return <Empty title="Which trace?" command="#/traces/show?id=…" />;
  return (
    <Answer of={answer}>
      {(trace) => <Shown key={trace.traceId} trace={trace} parameters={parameters} sources={sources} />}
    </Answer>
  );
};
export default Show;
