// Traces of the archive.
import { Empty } from '../../shell/states.js';
import type { ViewProps } from '../../shell/view-props.js';

const Traces = ({ sources }: ViewProps) => {
  if (!sources.archive) return <Empty title="No archive is open" command="spanline ui --archive ./traces" />;
  return null;
};
export default Traces;
