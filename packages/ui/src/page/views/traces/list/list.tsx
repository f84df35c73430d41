// The search: its conditions, when and how long the traces were, and a table of them.
import type { TracesAnswer } from '../../../../api/traces/answers.js';
import { get } from '../../../api/client.js';
import { useRequest } from '../../../api/use-request.js';
import { hrefOf, type ViewProps } from '../../../shell/location.js';
import { Answer, Empty } from '../../../shell/states.js';
import { chosenIn, searchOf } from '../address.js';
import { Scatter } from '../scatter/scatter.js';
import { Form } from './form.js';
import { TraceTable } from './trace-table.js';
import './list.css';

const Choice = ({ parameters }: Pick<ViewProps, 'parameters'>) => {
  const [a, b] = chosenIn(parameters);
  const { snapshot } = parameters;
  if (a === undefined) return null;
  return (
    <p role="status">
      {b === undefined ? (
        '1 of 2 chosen to be compared'
      ) : (
        <a href={hrefOf('traces/compare', { snapshot, a, b })}>Compare the two</a>
      )}
    </p>
  );
};

const Found = ({ traces, next, parameters }: TracesAnswer & Pick<ViewProps, 'parameters'>) => {
  const { before } = parameters;
  if (traces.length === 0)
    return (
      <Empty
        title={before === undefined ? 'No trace meets this' : 'There is no older one'}
        command="node --import spanline/register app.js   (with SPANLINE_ARCHIVE=./traces)"
      >
        <p>Ask for less, or send traces to the archive.</p>
      </Empty>
    );
  return (
    <>
      <p role="status">
        {traces.length} traces{next !== undefined && (before === undefined ? ', the newest' : ', older ones')} ·{' '}
        <a href={hrefOf('traces/groups', searchOf(parameters))}>by shape</a>
      </p>
      <Choice parameters={parameters} />
      <TraceTable traces={traces} parameters={parameters} />
      <p class="pages">
        {before !== undefined && <a href={hrefOf('traces', { ...parameters, before: undefined })}>Newest</a>}{' '}
        {next !== undefined && <a href={hrefOf('traces', { ...parameters, before: next })}>Older</a>}
      </p>
    </>
  );
};

const List = ({ parameters }: ViewProps) => {
  const asked = { ...searchOf(parameters), before: parameters.before };
  const answer = useRequest(JSON.stringify(asked), (signal) => get<TracesAnswer>('traces', asked, signal));
  return (
    <>
      <h1>Traces</h1>
      <Form parameters={parameters} />
      <Scatter parameters={parameters} />
      <Answer of={answer}>{(found) => <Found {...found} parameters={parameters} />}</Answer>
    </>
  );
};
export default List;
