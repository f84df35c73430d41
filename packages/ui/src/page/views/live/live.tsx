// What happens now, again each second: the last minute by the metrics of services, which count everything, and that of the archive: the rate, the
// operations, the newest and the slowest traces.

import { useEffect, useState } from 'preact/hooks';
import type {
  LiveArchive,
  LiveEvent,
  LiveMeasured,
  LiveMinute,
  LiveOperation,
  LiveRequest,
  MeasuredRow,
} from '../../../api/answers.js';
import { listen } from '../../api/client.js';
import { useKeys } from '../../shell/keys.js';
import { hrefOf, type ViewProps } from '../../shell/location.js';
import { Empty, Failure } from '../../shell/states.js';
import { duration, Scrolling, Status, share, Table, timeOfDay } from '../../shell/texts.js';
import './live.css';

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const MINUTE = 60;

// The figures that both halves of Live have, of the archive and of metrics, must look the same, or one would be taken for something else.

/** What was answered: parts of a list. */
const RequestFigures = ({ perSecond, count, errors }: { perSecond: number; count: number; errors: number }) => (
  <>
    <div>
      <dt>requests a second</dt>
      <dd>{perSecond.toFixed(1)}</dd>
    </div>
    <div>
      <dt>requests</dt>
      <dd>{count}</dd>
    </div>
    <div>
      <dt>with an error</dt>
      <dd class={errors > 0 ? 'failed' : undefined}>{share(errors, count)}</dd>
    </div>
  </>
);

type Outcome = Pick<LiveOperation, 'count' | 'errors' | 'p50Us' | 'p95Us' | 'p99Us'>;

/** How often and how long: the last cells of a row. */
const OutcomeCells = ({ count, errors, p50Us, p95Us, p99Us }: Outcome) => (
  <>
    <td class="number">{count}</td>
    <td class={errors > 0 ? 'number failed' : 'number'}>{errors}</td>
    <td class="number">{duration(p50Us)}</td>
    <td class="number">{duration(p95Us)}</td>
    <td class="number">{duration(p99Us)}</td>
  </>
);

/** What services have measured: exact whatever is sampled. It must say what it cannot read, and of how long its figures are. */
const Rows = ({ rows }: { rows: readonly MeasuredRow[] }) => (
  <Scrolling label="measured">
    <Table head={['Kind', 'Name', 'Service', 'A second', 'Count', 'Errors', 'p50', 'p95', 'p99']} align="lllrrrrrr">
      {rows.map(({ service, what, name, perSecond, ...outcome }) => (
        <tr key={JSON.stringify([service, what, name])}>
          <td>{what}</td>
          <td>{name}</td>
          <td>{service}</td>
          <td class="number">{perSecond.toFixed(1)}</td>
          <OutcomeCells {...outcome} />
        </tr>
      ))}
    </Table>
    <p class="muted">
      Measured by the services, whatever is sampled: what they answered, processed, asked of others and sent. Own spans
      are those that were recorded. Percentiles are as exact as buckets are.
    </p>
  </Scrolling>
);

const Measured = ({ measured: { seconds, rows, failures } }: { measured: LiveMeasured }) => {
  const answered = rows.filter(({ what }) => what === 'answered');
  const count = sumOf(answered.map((row) => row.count));
  const errors = sumOf(answered.map((row) => row.errors));
  return (
    <section>
      <dl class="live-figures">
        <RequestFigures perSecond={sumOf(answered.map((row) => row.perSecond))} count={count} errors={errors} />
      </dl>
      {Math.round(seconds) < MINUTE && (
        <p class="muted">
          These are the last {Math.round(seconds)} seconds: metrics are read since the page was opened.
        </p>
      )}
      {failures.map(({ url, reason }) => (
        <p key={url} class="failed" role="alert">
          {url} cannot be read: {reason}. Is the service running with OTEL_METRICS_EXPORTER=prometheus?
        </p>
      ))}
      {rows.length > 0 && <Rows rows={rows} />}
    </section>
  );
};

const HEIGHT = 80;

/** A bar a second, the part with errors at its foot. */
const Rate = ({ ended, failed }: LiveMinute) => {
  const max = Math.max(1, ...ended);
  const heightOf = (count: number): number => (count / max) * HEIGHT;
  return (
    <svg
      class="rate"
      role="img"
      aria-label={`requests a second, at most ${max}`}
      viewBox={`0 0 ${ended.length} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      {ended.map((count, second) => (
        <g key={second}>
          <rect class="all" x={second} y={HEIGHT - heightOf(count)} width={0.85} height={heightOf(count)} />
          <rect
            class="failed"
            x={second}
            y={HEIGHT - heightOf(failed[second])}
            width={0.85}
            height={heightOf(failed[second])}
          />
        </g>
      ))}
    </svg>
  );
};

const Operations = ({ operations, further }: LiveMinute) => (
  <Scrolling label="operations">
    <Table head={['Operation', 'Service', 'Requests', 'Errors', 'p50', 'p95', 'p99']} align="llrrrrr">
      {operations.map(({ service, name, ...outcome }) => (
        <tr key={JSON.stringify([service, name])}>
          <td>
            <a href={hrefOf('traces', { service, name })}>{name}</a>
          </td>
          <td>{service}</td>
          <OutcomeCells {...outcome} />
        </tr>
      ))}
    </Table>
    <p class="muted">
      An operation is a name of requests to a service: roots, and spans that serve, consume or continue work of another
      process. Percentiles are estimated, within 1 %.
      {further > 0 &&
        ` ${further} more requests are of operations beyond these ${operations.length}: names that hold ids are better without them.`}
    </p>
  </Scrolling>
);

const Traces = ({ title, requests }: { title: string; requests: readonly LiveRequest[] }) => (
  <section>
    <h2>{title}</h2>
    <ol class="live-traces">
      {requests.map(({ traceId, name, startUs, durationUs, status }) => (
        <li key={traceId}>
          <a href={hrefOf('traces/show', { id: traceId })}>{name}</a>
          <Status {...status} />
          <span class="muted">{timeOfDay(startUs)}</span>
          <span class="number">{duration(durationUs)}</span>
        </li>
      ))}
    </ol>
  </section>
);

/** What keeps the figures from being those of the whole minute. */
const Gaps = ({ ended, damagedFiles }: LiveMinute) => (
  <>
    {ended.length < MINUTE && (
      <p class="muted">
        These are the last {ended.length} seconds: more requests were there before the page was opened than are counted
        afterwards.
      </p>
    )}
    {damagedFiles > 0 && (
      <p class="muted">
        {damagedFiles} files of the archive cannot be read, or not whole: requests in them are missing.
      </p>
    )}
  </>
);

export const Minute = ({ minute }: { minute: LiveMinute }) => {
  const count = sumOf(minute.ended);
  const errors = sumOf(minute.failed);
  return (
    <>
      <dl class="live-figures">
        <RequestFigures perSecond={count / minute.ended.length} count={count} errors={errors} />
        <div>
          <dt>traces begun</dt>
          <dd>{minute.traces}</dd>
        </div>
      </dl>
      <Gaps {...minute} />
      <Rate {...minute} />
      <h2>Operations</h2>
      <Operations {...minute} />
      <div class="live-lists">
        <Traces title="Newest traces" requests={minute.newest} />
        <Traces title="Slowest traces" requests={minute.slowest} />
      </div>
    </>
  );
};

/** Milliseconds before the next attempt to reach a server that went away. */
const AGAIN_MS = 2000;

const TRACED = 'node --import spanline/register app.js';

interface Seen {
  readonly event?: LiveEvent;
  readonly error?: Error;
}

/** What the newest event says, while `isWatching`; a stream that ends is opened again. */
const useLive = (isWatching: boolean): Seen => {
  const [state, setState] = useState<Seen>({});
  useEffect(() => {
    if (!isWatching) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (event: LiveEvent): void => setState({ event });
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

/** Where there is a minute of an archive to show. */
const minuteIn = (archive: LiveArchive | undefined): LiveMinute | undefined =>
  archive !== undefined && 'ended' in archive && archive.newest.length > 0 ? archive : undefined;

/** Why there is none. */
const NoMinute = ({ archive }: { archive: LiveArchive }) => {
  if ('error' in archive) return <Failure error={new Error(archive.error)} />;
  if ('waitsFor' in archive)
    return (
      <Empty title={`${archive.waitsFor} is not there yet`} command={`SPANLINE_ARCHIVE=${archive.waitsFor} ${TRACED}`}>
        <p>The program makes it. This page waits, and shows what arrives.</p>
      </Empty>
    );
  return (
    <Empty title="Nothing arrived in the last minute" command={`SPANLINE_ARCHIVE=./traces ${TRACED}`}>
      <p>
        Requests appear here as they end. <a href="#/traces">Traces</a> finds the older ones.
      </p>
    </Empty>
  );
};

const Watching = () => {
  const [isWatching, setWatching] = useState(true);
  const { event, error } = useLive(isWatching);
  const toggle = (): void => setWatching(!isWatching);
  useKeys([{ key: 'p', does: 'pause or go on', act: toggle }]);
  if (error !== undefined) return <Failure error={error} />;
  if (event === undefined)
    return (
      <p class="state" role="status">
        Waiting for the server …
      </p>
    );
  const { archive, measured } = event;
  const minute = minuteIn(archive);
  if (minute === undefined && measured === undefined && archive !== undefined) return <NoMinute archive={archive} />;
  return (
    <>
      <h1 class="live-title">
        The last minute
        <button type="button" onClick={toggle} aria-pressed={!isWatching}>
          {isWatching ? 'Pause' : 'Go on'}
        </button>
      </h1>
      {measured !== undefined && <Measured measured={measured} />}
      {measured !== undefined && archive !== undefined && <h2>In the archive, as far as it is sampled</h2>}
      {minute !== undefined && <Minute minute={minute} />}
      {minute === undefined && archive !== undefined && <NoMinute archive={archive} />}
    </>
  );
};

const Live = ({ sources }: ViewProps) =>
  sources.archive || sources.metrics ? (
    <Watching />
  ) : (
    <Empty
      title="No archive is open, nor metrics"
      command="spanline ui --archive ./traces --metrics http://localhost:9464/metrics"
    />
  );
export default Live;
