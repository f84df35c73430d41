// Where the time of one span went: a bar, the words, and who had the loop.
import type { DivisionAnswer, PartKind } from '../../../../api/trace/answers.js';
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

export const DivisionBar = ({ division, of }: { division: DivisionAnswer; of: string }) => {
  const links = useTraceLinks();
  return (
    <section class="division" aria-label={`where the time of ${of} went`}>
      <p class="mono">{division.text}</p>
      <div class="bar" role="img" aria-label={division.text}>
        {division.parts.map(({ kind, us }) => (
          <span key={kind} class={`part ${kind}`} style={{ flexGrow: us }} title={`${WORDS[kind]}: ${duration(us)}`} />
        ))}
      </div>
      <ul class="legend">
        {division.parts.map(({ kind, us }) => (
          <li key={kind}>
            <span class={`swatch part ${kind}`} /> {WORDS[kind]} {duration(us)}
          </li>
        ))}
      </ul>
      {division.others.length > 0 && (
        <p>
          Who had the loop:{' '}
          {division.others.map(({ name, traceId, us }, i) => (
            <span key={traceId + name}>
              {i > 0 && ', '}
              <a href={links.hrefOf(traceId)}>{name}</a> {duration(us)}
            </span>
          ))}
        </p>
      )}
      {division.poolUs > 0 && (
        <p>
          Of the waiting, the thread pool was full {duration(division.poolUs)}
          {division.poolWaits.map(({ requests, us }) => requests && `, ${requests} ${duration(us)}`)}
        </p>
      )}
      {division.frames.map(({ frames, us }) => (
        <p key={frames.join()} class="mono">
          {duration(us)} {frames.slice(0, 4).join(' ← ')}
        </p>
      ))}
    </section>
  );
};
