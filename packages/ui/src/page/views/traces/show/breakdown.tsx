// Where the time of one span went: a bar, the words, and who had the loop.
import type { BreakdownAnswer, PartKind } from '../../../../api/trace/answers.js';
import { duration } from '../../../shell/units.js';
import { useTraceLinks } from '../address.js';

const WORDS: Readonly<Record<PartKind, string>> = {
  own: 'own work',
  loop: 'the loop had others',
  gc: 'garbage collection',
  untraced: 'the loop had work that no span covers',
  short: 'short turns of the loop, of this span or others',
  waiting: 'waiting',
  unknown: 'unknown',
};

export const BreakdownBar = ({ breakdown, of }: { breakdown: BreakdownAnswer; of: string }) => {
  const links = useTraceLinks();
  return (
    <section class="breakdown" aria-label={`where the time of ${of} went`}>
      <p class="mono">{breakdown.text}</p>
      <div class="bar" role="img" aria-label={breakdown.text}>
        {breakdown.parts.map(({ kind, us }) => (
          <span key={kind} class={`part ${kind}`} style={{ flexGrow: us }} title={`${WORDS[kind]}: ${duration(us)}`} />
        ))}
      </div>
      <ul class="legend">
        {breakdown.parts.map(({ kind, us }) => (
          <li key={kind}>
            <span class={`swatch part ${kind}`} /> {WORDS[kind]} {duration(us)}
          </li>
        ))}
      </ul>
      {breakdown.others.length > 0 && (
        <p>
          Who had the loop:{' '}
          {breakdown.others.map(({ name, traceId, us }, i) => (
            <span key={traceId + name}>
              {i > 0 && ', '}
              <a href={links.hrefOf(traceId)}>{name}</a> {duration(us)}
            </span>
          ))}
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
};
