// What is known of the selected span. Everything is text: a property of a stranger must never become markup.
import type { SpanAnswer, TraceAnswer } from '../../../../api/trace/answers.js';
import { get } from '../../../api/client.js';
import { useRequest } from '../../../api/use-request.js';
import { hrefOf } from '../../../shell/location.js';
import { Answer } from '../../../shell/states.js';
import { duration, share } from '../../../shell/units.js';
import { DivisionBar } from './division.js';

const Pairs = ({ title, of }: { title: string; of: SpanAnswer['properties'] }) =>
  of.length === 0 ? null : (
    <>
      <h3>{title}</h3>
      <dl class="pairs">
        {of.map(([key, value]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );

export const Details = ({ trace, place }: { trace: TraceAnswer; place: number }) => {
  const { spans, traceId } = trace;
  const span = spans.ids[place];
  const answer = useRequest(`${traceId}/${span}`, (signal) =>
    get<SpanAnswer>('trace/span', { id: traceId, span }, signal),
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which a keyboard must be able to do.
    <aside class="details" aria-label="the selected span" tabIndex={0}>
      <h2>{trace.names[spans.name[place]]}</h2>
      <p>
        {duration(spans.durationUs[place])}, {share(spans.durationUs[place], trace.durationUs)} of the trace; self{' '}
        {duration(spans.selfUs[place])}; began at {duration(spans.startUs[place])}
        {spans.isCritical[place] === 1 && '; on the critical path'}
      </p>
      <Answer of={answer}>
        {({ kind, status, properties, resource, events, links, division }) => (
          <>
            {division !== undefined && <DivisionBar division={division} />}
            <p>
              {kind}
              {status !== '' && `, ${status}`}
            </p>
            <Pairs title="Properties" of={properties} />
            {events.length > 0 && <h3>Events</h3>}
            {events.map((event) => (
              <Pairs
                key={event.atUs + event.name}
                title={`${event.name} at ${duration(event.atUs)}`}
                of={event.properties}
              />
            ))}
            {links.length > 0 && <h3>Links</h3>}
            {links.map((link) => (
              <p key={link.traceId + link.spanId}>
                <a href={hrefOf('traces/show', { id: link.traceId, span: link.spanId })}>{link.traceId}</a>
              </p>
            ))}
            <Pairs title="Resource" of={resource} />
          </>
        )}
      </Answer>
    </aside>
  );
};
