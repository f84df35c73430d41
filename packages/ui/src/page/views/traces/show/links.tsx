// Links of a trace: those that go out, and those of other traces that come in. What a link leads to may be absent, which it says.
import type { LinkAnswer, LinkedFromAnswer, TraceAnswer } from '../../../../api/trace/answers.js';
import type { Requested } from '../../../api/client.js';
import { moment } from '../../../shell/texts.js';
import { useTraceLinks } from '../address.js';

interface Choosing {
  readonly places: ReadonlyMap<string, number>;
  readonly select: (place: number) => void;
}

/** A span of this trace, by its id. */
const OwnSpan = ({ id, name, places, select }: Choosing & { id: string; name: (place: number) => string }) => {
  const place = places.get(id);
  if (place === undefined) return <>span {id}, which this trace does not have</>;
  return (
    <button type="button" onClick={() => select(place)}>
      {name(place)}
    </button>
  );
};

interface OutgoingProps extends Choosing {
  readonly traceId: string;
  readonly spanId: string;
}

/** Where a link leads to. */
export const OutgoingLink = ({ traceId, spanId, places, select }: OutgoingProps) => {
  const links = useTraceLinks();
  const place = places.get(spanId);
  if (place !== undefined)
    return (
      <button type="button" onClick={() => select(place)}>
        span {spanId} of this trace
      </button>
    );
  return (
    <a class="mono" href={links.hrefOf(traceId, spanId)}>
      {traceId}
    </a>
  );
};

interface LinksProps extends Choosing {
  readonly trace: TraceAnswer;
  readonly linkedFrom: Requested<LinkedFromAnswer>;
}

/** Shown in the list; the details of each span have all of its links. */
const MAX = 50;

const Outgoing = ({ link, trace, places, select }: { link: LinkAnswer } & Omit<LinksProps, 'linkedFrom'>) => {
  const { names, spans } = trace;
  return (
    <li>
      <button type="button" onClick={() => select(link.from)}>
        {names[spans.name[link.from]]}
      </button>{' '}
      → <OutgoingLink {...link} places={places} select={select} />
    </li>
  );
};

/** All links of a trace, to and fro. */
export const Links = ({ trace, linkedFrom, places, select }: LinksProps) => {
  const traceLinks = useTraceLinks();
  const { links, linksLeftOut, names, spans } = trace;
  const { value, error, isLoading } = linkedFrom;
  const incoming = value?.links ?? [];
  if (links.length === 0 && incoming.length === 0 && error === undefined) return null;
  const more = linksLeftOut + Math.max(0, links.length - MAX);
  return (
    // Once all are known: it must not close under the hand of somebody who has just opened it.
    <details class="links" open={!isLoading && links.length + incoming.length <= 4}>
      <summary>
        {links.length + linksLeftOut} links out, {isLoading ? '…' : `${incoming.length}${value?.isFull ? '+' : ''}`} in
      </summary>
      <ul>
        {links.slice(0, MAX).map((link, i) => (
          <Outgoing key={i} link={link} trace={trace} places={places} select={select} />
        ))}
        {more > 0 && <li>and {more} more: the spans have them</li>}
        {incoming.map(({ traceId, name, spanId, spanName, startUs, to }, i) => (
          <li key={i}>
            <a href={traceLinks.hrefOf(traceId, spanId)}>
              {name} · {spanName}
            </a>{' '}
            {moment(startUs)} →{' '}
            <OwnSpan id={to} places={places} select={select} name={(place) => names[spans.name[place]]} />
          </li>
        ))}
        {value?.isFull && <li>more traces link here</li>}
      </ul>
      {error !== undefined && <p role="alert">What links here cannot be read: {error.message}</p>}
    </details>
  );
};
