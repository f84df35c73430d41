// Digests of results by commit.
import { Empty } from '../../shell/states.js';
import type { ViewProps } from '../../shell/view-props.js';

const Golden = ({ sources }: ViewProps) => {
  if (!sources.gold) return <Empty title="No Gold store is open" command="spanline ui --gold-store ./gold" />;
  return null;
};
export default Golden;
