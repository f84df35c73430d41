// Traces of the archive, or of a snapshot: hands on to the part that the address names.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Empty } from '../../shell/states.js';
import type { ViewProps } from '../../shell/view-props.js';
import { NoArchive } from './no-archive.js';
import { PARTS } from './parts.js';
import { SnapshotBar } from './snapshots/snapshot-bar.js';
import './traces.css';

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
