// What arrives now: the last minute of the archive, again each second.
import { useEffect, useState } from 'preact/hooks';
import type { LiveEvent, LiveMinute } from '../../../api/live/answers.js';
import { listen } from '../../api/client.js';
import { useKeys } from '../../shell/keys.js';
import type { ViewProps } from '../../shell/location.js';
import { Empty, Failure } from '../../shell/states.js';
import { Minute } from './minute.js';
import './live.css';

/** Milliseconds before the next attempt to reach a server that went away. */
const AGAIN_MS = 2000;

const TRACED = 'node --import spanline/register app.js';

interface Seen {
  readonly minute?: LiveMinute;
  /** The directory of an archive that is not there yet. */
  readonly waitsFor?: string;
  readonly error?: Error;
}

const seenIn = (event: LiveEvent): Seen => {
  if ('error' in event) return { error: new Error(event.error) };
  return 'waitsFor' in event ? event : { minute: event };
};

/** What the newest event says, while `isWatching`; a stream that ends is opened again. */
const useLive = (isWatching: boolean): Seen => {
  const [state, setState] = useState<Seen>({});
  useEffect(() => {
    if (!isWatching) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (event: LiveEvent): void => setState(seenIn(event));
    const watch = async (): Promise<void> => {
      await listen<LiveEvent>('live', show, controller.signal).catch((error: Error) => {
        if (!controller.signal.aborted) setState({ error });
      });
      if (!controller.signal.aborted) timer = setTimeout(() => void watch(), AGAIN_MS);
    };
    void watch();
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [isWatching]);
  return state;
};

const Watching = () => {
  const [isWatching, setWatching] = useState(true);
  const { minute, waitsFor, error } = useLive(isWatching);
  const toggle = (): void => setWatching(!isWatching);
  useKeys([{ key: 'p', does: 'pause or go on', act: toggle }]);
  if (error !== undefined) return <Failure error={error} />;
  if (waitsFor !== undefined)
    return (
      <Empty title={`${waitsFor} is not there yet`} command={`SPANLINE_ARCHIVE=${waitsFor} ${TRACED}`}>
        <p>The program makes it. This page waits, and shows what arrives.</p>
      </Empty>
    );
  if (minute === undefined)
    return (
      <p class="state" role="status">
        Waiting for the server …
      </p>
    );
  if (minute.newest.length === 0)
    return (
      <Empty title="Nothing arrived in the last minute" command={`SPANLINE_ARCHIVE=./traces ${TRACED}`}>
        <p>
          Requests appear here as they end. <a href="#/traces">Traces</a> finds the older ones.
        </p>
      </Empty>
    );
  return (
    <>
      <h1 class="live-title">
        The last minute
        <button type="button" onClick={toggle} aria-pressed={!isWatching}>
          {isWatching ? 'Pause' : 'Go on'}
        </button>
      </h1>
      <Minute minute={minute} />
    </>
  );
};

const Live = ({ sources }: ViewProps) =>
  sources.archive ? <Watching /> : <Empty title="No archive is open" command="spanline ui --archive ./traces" />;
export default Live;
