// The worst stalls of the event loop.
import type { StallsAnswer } from '../../../api/stalls/answers.js';
import { get } from '../../api/client.js';
import { useRequest } from '../../api/use-request.js';
import { goTo, type ViewProps } from '../../shell/location.js';
import { Answer, Empty } from '../../shell/states.js';
import { NoArchive } from '../traces/no-archive.js';
import { SnapshotBar } from '../traces/snapshots/snapshot-bar.js';
import { StallCard } from './stall-card.js';
import './stalls.css';

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
  const answer = useRequest(isOpen ? `${snapshot} ${last}` : undefined, (signal) =>
    get<StallsAnswer>('stalls', { snapshot, last }, signal),
  );
  if (!isOpen) return <NoArchive sources={sources} />;
  return (
    <>
      <SnapshotBar parameters={parameters} sources={sources} />
      <h1>Stalls</h1>
      <label>
        The worst{' '}
        <select value={last} onChange={(event) => goTo('stalls', { snapshot, last: event.currentTarget.value })}>
          {TIMES.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <Answer of={answer}>{(value) => <List {...value} />}</Answer>
    </>
  );
};
export default Stalls;
