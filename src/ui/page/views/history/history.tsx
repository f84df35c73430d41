// Values of benchmarks by commit.
import { Empty } from '../../shell/states.js';
import type { ViewProps } from '../../shell/view-props.js';

const History = ({ sources }: ViewProps) => {
  if (!sources.perf) return <Empty title="No Perf store is open" command="spanline ui --store ./perf" />;
  return null;
};
export default History;
