// The worst stalls of the event loop.
import { Empty } from '../../shell/states.js';
import type { ViewProps } from '../../shell/view-props.js';

const Stalls = ({ sources }: ViewProps) => {
  if (!sources.archive) return <Empty title="No archive is open" command="spanline ui --archive ./traces" />;
  return null;
};
export default Stalls;
