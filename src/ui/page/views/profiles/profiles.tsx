// CPU profiles by label.
import { Empty } from '../../shell/states.js';
import type { ViewProps } from '../../shell/view-props.js';

const Profiles = ({ sources }: ViewProps) => {
  if (!sources.profiles)
    return <Empty title="No directory of profiles is open" command="spanline ui --profiles ./profiles" />;
  return null;
};
export default Profiles;
