// What is known of the selected span. Everything is text: a property of a stranger must never become markup.
import type { SpanAnswer, TraceAnswer } from '../../../../api/trace/answers.js';
import { get } from '../../../api/client.js';
import { useRequest, useSettled } from '../../../api/use-request.js';
import { Breakable } from '../../../shell/breakable.js';
import { hrefOf } from '../../../shell/location.js';
import { Failure } from '../../../shell/states.js';
import { duration, share } from '../../../shell/units.js';
import { BreakdownBar } from './breakdown.js';
import { OutgoingLink } from './links.js';
import type { CpuOfTrace } from './use-cpu.js';

/** A held key goes through hundreds of spans: only where it stops one is asked about. */
const SETTLE_MS = 120;

const Pairs = ({ title, of }: { title: string; of: SpanAnswer['properties'] }) =>
  of.length === 0 ? null : (
    <>
      {title !== '' && <h3>{title}</h3>}
      <dl class="pairs">
        {of.map(([key, value]) => (
          <div key={key}>
            <dt>
              <Breakable text={key} />
            </dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );

const Cpu = ({ trace, place, cpu }: Omit<Props, 'snapshot'>) => {
  if (cpu === undefined) return null;
  if (cpu.error !== undefined) return <p role="alert">CPU time: {cpu.error.message}</p>;
  const { spans, traceId } = trace;
  const span = spans.ids[place];
  const own = cpu.bySpan.get(place);
  if (own === undefined) return <p>CPU: no sample of this very span</p>;
  const { cpuNs, stderrNs, samples } = own;
  return (
    <p>
      CPU {duration(cpuNs / 1000)} ± {duration(stderrNs / 1000)} itself, {share(cpuNs / 1000, spans.selfUs[place])} of
      its self time; <a href={hrefOf('profiles', { trace: traceId, span })}>{samples} samples</a>
    </p>
  );
};

interface Props {
  readonly trace: TraceAnswer;
  readonly place: number;
  readonly cpu: CpuOfTrace | undefined;
  readonly snapshot: string | undefined;
}

const Known = ({ span, places, select }: { span: SpanAnswer } & Pick<DetailsProps, 'places' | 'select'>) => {
  const { kind, status, properties, resource, events, links, breakdown } = span;
  return (
    <>
      {breakdown !== undefined && <BreakdownBar breakdown={breakdown} of="the span" />}
      <p>
        {kind}
        {status !== '' && `, ${status}`}
      </p>
      <Pairs title="Properties" of={properties} />
      {events.length > 0 && <h3>Events</h3>}
      {events.map((event, i) => (
        <div key={i}>
          <p>
            {event.name} at {duration(event.atUs)}
          </p>
          <Pairs title="" of={event.properties} />
        </div>
      ))}
      {links.length > 0 && <h3>Links</h3>}
      {links.map((link, i) => (
        <p key={i}>
          <OutgoingLink {...link} places={places} select={select} />
        </p>
      ))}
      <Pairs title="Resource" of={resource} />
    </>
  );
};

interface DetailsProps extends Props {
  readonly places: ReadonlyMap<string, number>;
  readonly select: (place: number) => void;
}

export const Details = ({ trace, place, cpu, snapshot, places, select }: DetailsProps) => {
  const { spans, traceId } = trace;
  const settled = useSettled(place, SETTLE_MS);
  const span = spans.ids[settled];
  const { value, error } = useRequest(`${traceId}/${span}`, (signal) =>
    get<SpanAnswer>('trace/span', { snapshot, id: traceId, span }, signal),
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which a keyboard must be able to do.
    <aside class="details" aria-label="the selected span" tabIndex={0} data-own-keys>
      <h2>{trace.names[spans.name[place]]}</h2>
      <p>
        {duration(spans.durationUs[place])}, {share(spans.durationUs[place], trace.durationUs)} of the trace; self{' '}
        {duration(spans.selfUs[place])}; began at {duration(spans.startUs[place])}
        {spans.isCritical[place] === 1 && '; on the critical path'}
      </p>
      <p class="mono muted">span {spans.ids[place]}</p>
      <Cpu trace={trace} place={place} cpu={cpu} />
      {error !== undefined && <Failure error={error} />}
      {value !== undefined && value.spanId === spans.ids[place] ? (
        <Known span={value} places={places} select={select} />
      ) : (
        error === undefined && <p class="muted">Loading …</p>
      )}
    </aside>
  );
};
