// What is shown where there is nothing to read traces from.
import { hrefOf, type ViewProps } from '../../shell/location.js';
import { Empty } from '../../shell/states.js';

export const NoArchive = ({ sources }: Pick<ViewProps, 'sources'>) => (
  <Empty title="No archive is open" command="spanline ui --archive ./traces">
    {sources.snapshots && (
      <p>
        Or look at <a href={hrefOf('traces/snapshots')}>a snapshot of a running process</a>.
      </p>
    )}
  </Empty>
);
