// Traces of the archive: hands on to the part that the address names.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Empty } from '../../shell/states.js';
import type { ViewProps } from '../../shell/view-props.js';
import { PARTS } from './parts.js';

const Traces = (props: ViewProps) => {
  const { path, sources } = props;
  const [part, setPart] = useState<{ readonly of: string; readonly Part: ComponentType<ViewProps> } | Error>();
  const load = Object.hasOwn(PARTS, path) ? PARTS[path] : undefined;
  useEffect(() => {
    load?.().then(
      (module) => setPart({ of: path, Part: module.default }),
      (error: Error) => setPart(error),
    );
  }, [path]);
  if (!sources.archive) return <Empty title="No archive is open" command="spanline ui --archive ./traces" />;
  if (load === undefined) return <Empty title={`There is no page traces/${path}`} />;
  if (part instanceof Error) throw part;
  return part?.of === path ? <part.Part {...props} /> : null;
};
export default Traces;
