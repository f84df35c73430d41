// The worst stalls of the event loop: who had it, as a bar and in words, and who waited for it.

import type { StallAnswer, StallsAnswer } from '../../../api/answers.js';
import { useGet } from '../../api/client.js';
import { Select } from '../../shell/controls.js';
import { goTo, type ViewProps } from '../../shell/location.js';
import { Answer, Empty, NoArchive } from '../../shell/states.js';
import { counted, duration, moment } from '../../shell/texts.js';
import { TimedTraces } from '../traces/address.js';
import { SnapshotBar } from '../traces/traces.js';
import './stalls.css';

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
      <div class="parts" style={{ width: `${Math.max(2, (100 * durationUs) / worstUs)}%` }} aria-hidden="true">
        {parts.map(({ kind, us }) => (
          <span key={kind} style={{ flexGrow: us, background: `var(--${kind})` }} />
        ))}
      </div>
      <ul class="legend" aria-label="who had the event loop">
        {parts.map(({ kind, words, us }) => (
          <li key={kind}>
            <span class="swatch" style={{ background: `var(--${kind})` }} /> {words} {duration(us)}
          </li>
        ))}
      </ul>
      {holders.length > 0 && (
        <p>
          <b>Had the loop:</b> <TimedTraces of={holders} />
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
              {counted(waiterCount, 'trace')} waited {duration(waitedUs)} in all:
            </b>{' '}
            <TimedTraces of={waiters} />
            {waiterCount > waiters.length && ` and ${waiterCount - waiters.length} more`}
          </>
        )}
      </p>
    </li>
  );
};

const TIMES = [
  ['', 'of all time'],
  ['15m', 'of the last 15 minutes'],
  ['1h', 'of the last hour'],
  ['24h', 'of the last day'],
] as const;

const List = ({ hasTimeline, stalls, notes }: StallsAnswer) => {
  if (!hasTimeline)
    return (
      <Empty
        title="There is no timeline of that time"
        command="SPANLINE_FLIGHT_RECORDER=60s,64MiB spanline run --archive ./traces -- node app.js"
      >
        <p>Processes keep one while their flight recorder is on.</p>
      </Empty>
    );
  if (stalls.length === 0) return <Empty title="There was no stall in that time" />;
  return (
    <>
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
      <ol class="stalls">
        {stalls.map((stall) => (
          <StallCard key={`${stall.process} ${stall.startUs}`} stall={stall} worstUs={stalls[0].durationUs} />
        ))}
      </ol>
    </>
  );
};

const Stalls = ({ sources, parameters }: ViewProps) => {
  const { last = '', snapshot } = parameters;
  const isOpen = snapshot === undefined ? sources.archive : sources.snapshots;
  const answer = useGet<StallsAnswer>(isOpen && 'stalls', { snapshot, last });
  if (!isOpen) return <NoArchive sources={sources} />;
  return (
    <>
      <SnapshotBar parameters={parameters} sources={sources} />
      <h1>Stalls</h1>
      <Select label="The worst" value={last} of={TIMES} change={(time) => goTo('stalls', { snapshot, last: time })} />
      <Answer of={answer}>{(value) => <List {...value} />}</Answer>
    </>
  );
};
export default Stalls;
