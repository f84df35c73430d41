// Values of benchmarks by commit: a query, the plot of what it selects, the changes in it and what people said of them.
import { useState } from 'preact/hooks';
import type { ChangeAnswer, SeriesAnswer } from '../../../api/history/answers.js';
import { get } from '../../api/client.js';
import { useRequest } from '../../api/use-request.js';
import { useKeys } from '../../shell/keys.js';
import { goTo } from '../../shell/location.js';
import { Answer, Empty } from '../../shell/states.js';
import type { ViewProps } from '../../shell/view-props.js';
import { Changes } from './changes.js';
import { Plot } from './plot.js';
import { QueryBuilder } from './query-builder.js';
import { Step } from './step.js';
import './history.css';

const LASTS = ['200', '1000', '5000', '20000'];

type Parameters = ViewProps['parameters'];

const Shown = ({
  answer,
  parameters,
  reload,
}: {
  answer: SeriesAnswer;
  parameters: Parameters;
  reload: () => void;
}) => {
  const { query = '', step, key } = parameters;
  const isSelected = (change: ChangeAnswer): boolean =>
    String(change.commit) === step && (key === undefined || change.key === key);
  const select = (change: Pick<ChangeAnswer, 'commit'> & { readonly key?: string }): void =>
    goTo('history', { ...parameters, step: String(change.commit), key: change.key });
  const at = answer.changes.findIndex(isSelected);
  const move = (by: number): void => {
    const next = answer.changes[Math.min(Math.max(at + by, 0), answer.changes.length - 1)];
    if (next !== undefined) select(next);
  };
  useKeys([
    { key: 'j', does: 'next change', act: () => move(1) },
    { key: 'k', does: 'previous change', act: () => move(-1) },
  ]);
  if (answer.series.length === 0)
    return (
      <Empty title="Nothing to draw">
        <p>{answer.reason}</p>
      </Empty>
    );
  const selected = answer.changes[at];
  return (
    <>
      <Plot answer={answer} selected={selected?.commit} select={(commit) => select({ commit })} />
      <p class="muted">
        {answer.series.length} series at {answer.commits.numbers.length} commits, {answer.changes.length} changes
        {answer.left > 0 && `; ${answer.left} more series are not drawn: narrow the query`}
      </p>
      {selected !== undefined && <Step change={selected} query={query} onChange={reload} />}
      <h2>Changes</h2>
      <Changes changes={answer.changes} isSelected={(change) => change === selected} select={select} />
    </>
  );
};

const Histories = ({ parameters }: { parameters: Parameters }) => {
  const { query = '', last = '1000' } = parameters;
  const [asked, setAsked] = useState(0);
  const answer = useRequest(`${query} ${last} ${asked}`, (signal) =>
    get<SeriesAnswer>('history/series', { query, last }, signal),
  );
  return (
    <div class="history">
      <QueryBuilder query={query} change={(changed) => goTo('history', { last: parameters.last, query: changed })} />
      <div>
        <div class="query">
          <h1>History</h1>
          <label>
            Newest commits{' '}
            <select
              value={last}
              onChange={(event) => goTo('history', { ...parameters, last: event.currentTarget.value })}
            >
              {(LASTS.includes(last) ? LASTS : [...LASTS, last]).map((count) => (
                <option key={count} value={count}>
                  {count}
                </option>
              ))}
            </select>
          </label>
        </div>
        <Answer of={answer}>
          {(value) => <Shown answer={value} parameters={parameters} reload={() => setAsked(asked + 1)} />}
        </Answer>
      </div>
    </div>
  );
};

const History = ({ parameters, sources }: ViewProps) =>
  sources.perf ? (
    <Histories parameters={parameters} />
  ) : (
    <Empty title="No Perf store is open" command="spanline ui --store ./perf" />
  );
export default History;
