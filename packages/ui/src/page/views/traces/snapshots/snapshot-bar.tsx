// Above what is shown of a snapshot: which one it is, what it holds, and the ways out of it. Without one, the way to snapshots.
import type { SnapshotFacts } from '../../../../api/snapshots/answers.js';
import { get } from '../../../api/client.js';
import { useRequest } from '../../../api/use-request.js';
import { hrefOf, type ViewProps } from '../../../shell/location.js';
import { Failure } from '../../../shell/states.js';
import { duration, moment } from '../../../shell/units.js';
import './snapshots.css';

const US_PER_MS = 1000;

const Facts = ({
  service,
  pid,
  reason,
  takenUs,
  bufferedMs,
  spanCount,
  traceCount,
  tornRows,
  refused,
}: SnapshotFacts) => (
  <span>
    {service}
    {pid !== undefined && ` ${pid}`}, {moment(takenUs)}, {reason}: {spanCount} spans, {traceCount} traces of the last{' '}
    {duration(bufferedMs * US_PER_MS)}
    {tornRows > 0 && `, ${tornRows} damaged rows left out`}
    {refused > 0 && `, ${refused} spans cannot be shown`}
  </span>
);

export const SnapshotBar = ({ parameters: { snapshot }, sources }: Pick<ViewProps, 'parameters' | 'sources'>) => {
  const { value, error } = useRequest(snapshot, (signal) =>
    get<SnapshotFacts>('snapshots/facts', { snapshot }, signal),
  );
  if (!sources.snapshots) return null;
  if (snapshot === undefined)
    return (
      <p>
        <a href={hrefOf('traces/snapshots')}>Snapshots of running processes</a>
      </p>
    );
  return (
    <section class="snapshot-bar" aria-label="the snapshot">
      <b>Snapshot</b>
      {error !== undefined && <Failure error={error} />}
      {value === undefined ? <span class="mono">{snapshot}</span> : <Facts {...value} />}
      <a href={hrefOf('traces', { snapshot })}>Traces</a>
      <a href={hrefOf('stalls', { snapshot })}>Stalls</a>
      <a href={hrefOf('traces/snapshots')}>Other snapshots</a>
      {sources.archive && <a href={hrefOf('traces')}>The archive</a>}
    </section>
  );
};
