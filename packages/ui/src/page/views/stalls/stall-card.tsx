// One stall: who had the event loop, as a bar and in words, and who waited for it.
import type { NamedTime, StallAnswer } from '../../../api/stalls/answers.js';
import { duration, moment } from '../../shell/units.js';
import { useTraceLinks } from '../traces/address.js';

const TraceLink = ({ name, traceId, us }: NamedTime) => {
  const links = useTraceLinks();
  return (
    <>
      <a href={links.hrefOf(traceId)}>{name || '(no name)'}</a> {duration(us)}
    </>
  );
};

interface Part {
  readonly kind: 'loop' | 'gc' | 'untraced' | 'unknown' | 'short' | 'waiting';
  readonly words: string;
  readonly us: number;
}

const partsOf = ({ spansUs, gcUs, untracedUs, unknownUs, shortUs, idleUs }: StallAnswer): Part[] =>
  [
    { kind: 'loop', words: 'spans', us: spansUs } as const,
    { kind: 'gc', words: 'garbage collection', us: gcUs } as const,
    { kind: 'untraced', words: 'untraced', us: untracedUs } as const,
    { kind: 'unknown', words: 'unknown', us: unknownUs } as const,
    { kind: 'short', words: 'short work', us: shortUs } as const,
    { kind: 'waiting', words: 'free', us: idleUs } as const,
  ].filter(({ us }) => us > 0);

export const StallCard = ({ stall, worstUs }: { stall: StallAnswer; worstUs: number }) => {
  const { process, startUs, durationUs, holders, untracedFrames, poolWaits, waiters, waiterCount, waitedUs } = stall;
  const parts = partsOf(stall);
  return (
    <li class="stall">
      <h2>
        {duration(durationUs)}{' '}
        <small>
          {moment(startUs)} {process}
        </small>
      </h2>
      <div class="stall-bar" style={{ width: `${Math.max(2, (100 * durationUs) / worstUs)}%` }} aria-hidden="true">
        {parts.map(({ kind, us }) => (
          <span key={kind} class={`part-${kind}`} style={{ flexGrow: us }} />
        ))}
      </div>
      <ul class="stall-parts" aria-label="who had the event loop">
        {parts.map(({ kind, words, us }) => (
          <li key={kind}>
            <i class={`part-${kind}`} aria-hidden="true" /> {words} {duration(us)}
          </li>
        ))}
      </ul>
      {holders.length > 0 && (
        <p>
          <b>Had the loop:</b>{' '}
          {holders.map((holder, i) => (
            <span key={i}>
              {i > 0 && ', '}
              <TraceLink {...holder} />
            </span>
          ))}
        </p>
      )}
      {poolWaits.map(({ requests, us }) => (
        <p key={requests}>
          <b>Thread pool full:</b> {requests} {duration(us)}
        </p>
      ))}
      {untracedFrames.map(({ name, frames, us }, i) => (
        <details key={i}>
          <summary>
            untraced <code>{name}</code> {duration(us)}
          </summary>
          <ol class="mono">
            {frames.map((frame, at) => (
              <li key={at}>{frame}</li>
            ))}
          </ol>
        </details>
      ))}
      <p>
        {waiterCount === 0 ? (
          'Nobody waited.'
        ) : (
          <>
            <b>
              {waiterCount} {waiterCount === 1 ? 'trace' : 'traces'} waited {duration(waitedUs)} in all:
            </b>{' '}
            {waiters.map((waiter, i) => (
              <span key={i}>
                {i > 0 && ', '}
                <TraceLink {...waiter} />
              </span>
            ))}
            {waiterCount > waiters.length && ` and ${waiterCount - waiters.length} more`}
          </>
        )}
      </p>
    </li>
  );
};
