// Traces of the archive, or of a snapshot: hands on to the part that the address names, which is loaded when it is first shown.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ViewProps } from '../../shell/location.js';
import { Empty } from '../../shell/states.js';
import { NoArchive } from './no-archive.js';
import { SnapshotBar } from './snapshots/snapshot-bar.js';
import './traces.css';

/** By the path behind `traces/`. */
export const PARTS: Readonly<Record<string, () => Promise<{ readonly default: ComponentType<ViewProps> }>>> = {
  '': () => import('./list/list.js'),
  compare: () => import('./compare/compare.js'),
  groups: () => import('./groups/groups.js'),
  show: () => import('./show/show.js'),
  snapshots: () => import('./snapshots/snapshots.js'),
};

const Traces = (props: ViewProps) => {
  const { path, parameters, sources } = props;
  const [part, setPart] = useState<{ readonly of: string; readonly Part: ComponentType<ViewProps> } | Error>();
  const load = Object.hasOwn(PARTS, path) ? PARTS[path] : undefined;
  useEffect(() => {
    load?.().then(
      (module) => setPart({ of: path, Part: module.default }),
      (error: Error) => setPart(error),
    );
  }, [path]);
  const isOfSnapshots = sources.snapshots && (path === 'snapshots' || parameters.snapshot !== undefined);
  if (!sources.archive && !isOfSnapshots) return <NoArchive sources={sources} />;
  if (load === undefined) return <Empty title={`There is no page traces/${path}`} />;
  if (part instanceof Error) throw part;
  if (part?.of !== path) return null;
  return (
    <>
      {path !== 'snapshots' && <SnapshotBar parameters={parameters} sources={sources} />}
      <part.Part {...props} />
    </>
  );
};
export default Traces;
