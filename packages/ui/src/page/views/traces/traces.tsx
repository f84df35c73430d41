// Traces of the archive, or of a snapshot: hands on to the part that the address names, which is loaded when it is first shown. Above what is shown
// of a snapshot stands which one it is, what it holds, and the ways out of it; without one, the way to snapshots.
import type { SnapshotFacts } from '../../../api/answers.js';
import { useGet } from '../../api/client.js';
import { hrefOf, type ViewProps } from '../../shell/location.js';
import { Empty, Failure, type Load, Loaded, NoArchive } from '../../shell/states.js';
import { duration, moment } from '../../shell/texts.js';
import './snapshots/snapshots.css';

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
  const { value, error } = useGet<SnapshotFacts>(snapshot !== undefined && 'snapshots/facts', { snapshot });
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

/** By the path behind `traces/`. */
export const PARTS: Readonly<Record<string, Load>> = {
  '': () => import('./list/list.js'),
  compare: () => import('./compare/compare.js'),
  groups: () => import('./groups/groups.js'),
  show: () => import('./show/show.js'),
  snapshots: () => import('./snapshots/snapshots.js'),
};

const Traces = (props: ViewProps) => {
  const { path, parameters, sources } = props;
  const load = Object.hasOwn(PARTS, path) ? PARTS[path] : undefined;
  const isOfSnapshots = sources.snapshots && (path === 'snapshots' || parameters.snapshot !== undefined);
  if (!sources.archive && !isOfSnapshots) return <NoArchive sources={sources} />;
  if (load === undefined) return <Empty title={`There is no page traces/${path}`} />;
  return (
    <>
      {path !== 'snapshots' && <SnapshotBar parameters={parameters} sources={sources} />}
      <Loaded key={path} load={load} {...props} />
    </>
  );
};
export default Traces;
