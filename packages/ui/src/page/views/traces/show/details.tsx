// What is known of the selected span, and where its time went: a bar, the words, who had the loop, and its CPU time where profiles were taken
// meanwhile. Everything is text: a property of a stranger must never become markup.
import { useMemo } from 'preact/hooks';
import type { TraceCpu } from '../../../../api/profiles/answers.js';
import type { BreakdownAnswer, PartKind, SpanAnswer, TraceAnswer } from '../../../../api/trace/answers.js';
import { useGet, useSettled } from '../../../api/client.js';
import { hrefOf } from '../../../shell/location.js';
import { Failure } from '../../../shell/states.js';
import { Breakable, duration, share } from '../../../shell/texts.js';
import { TimedTraces } from '../address.js';
import { OutgoingLink } from './links.js';

export type SpanCpu = TraceCpu['spans'][number];

/** What profiles say of a trace. */
export interface CpuOfTrace {
  /** By place of the span; of that span itself, without its children. */
  readonly bySpan: ReadonlyMap<number, SpanCpu>;
  readonly totalNs: number;
  readonly error?: Error;
}

/** Undefined while it is not known, and where no profile has a sample of the trace. */
export const useCpu = (
  traceId: string,
  places: ReadonlyMap<string, number>,
  hasProfiles: boolean,
): CpuOfTrace | undefined => {
  const { value, error } = useGet<TraceCpu>(hasProfiles && 'profiles/of-trace', { id: traceId });
  return useMemo(() => {
    if (error !== undefined) return { bySpan: new Map(), totalNs: 0, error };
    if (value === undefined || value.profiles.length === 0) return undefined;
    const bySpan = new Map<number, SpanCpu>();
    for (const span of value.spans) {
      const place = places.get(span.spanId);
      if (place !== undefined) bySpan.set(place, span);
    }
    return { bySpan, totalNs: value.profiles.reduce((sum, { cpuNs }) => sum + cpuNs, 0) };
  }, [value, error, places]);
};

const WORDS: Readonly<Record<PartKind, string>> = {
  own: 'own work',
  loop: 'the loop had others',
  gc: 'garbage collection',
  untraced: 'the loop had work that no span covers',
  short: 'short turns of the loop, of this span or others',
  waiting: 'waiting',
  unknown: 'unknown',
};

export const BreakdownBar = ({ breakdown, of }: { breakdown: BreakdownAnswer; of: string }) => (
  <section class="breakdown" aria-label={`where the time of ${of} went`}>
    <p class="mono">{breakdown.text}</p>
    <div class="parts" role="img" aria-label={breakdown.text}>
      {breakdown.parts.map(({ kind, us }) => (
        <span
          key={kind}
          style={{ flexGrow: us, background: `var(--${kind})` }}
          title={`${WORDS[kind]}: ${duration(us)}`}
        />
      ))}
    </div>
    <ul class="legend">
      {breakdown.parts.map(({ kind, us }) => (
        <li key={kind}>
          <span class="swatch" style={{ background: `var(--${kind})` }} /> {WORDS[kind]} {duration(us)}
        </li>
      ))}
    </ul>
    {breakdown.others.length > 0 && (
      <p>
        Who had the loop: <TimedTraces of={breakdown.others} />
      </p>
    )}
    {breakdown.poolUs > 0 && (
      <p>
        Of the waiting, the thread pool was full {duration(breakdown.poolUs)}
        {breakdown.poolWaits.map(({ requests, us }) => requests && `, ${requests} ${duration(us)}`)}
      </p>
    )}
    {breakdown.frames.map(({ frames, us }) => (
      <p key={frames.join()} class="mono">
        {duration(us)} {frames.slice(0, 4).join(' ← ')}
      </p>
    ))}
  </section>
);

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
  const { value, error } = useGet<SpanAnswer>('trace/span', { snapshot, id: traceId, span });
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
