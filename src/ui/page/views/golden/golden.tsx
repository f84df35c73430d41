// Digests of results by commit: a search, the digests that it finds, the one that is looked at, and what is ignored.
import { useState } from 'preact/hooks';
import type { FoundDigest, SearchAnswer } from '../../../api/golden/answers.js';
import { get } from '../../api/client.js';
import { useRequest } from '../../api/use-request.js';
import { useKeys } from '../../shell/keys.js';
import { goTo } from '../../shell/location.js';
import { Answer, Empty } from '../../shell/states.js';
import type { ViewProps } from '../../shell/view-props.js';
import { Digest } from './digest.js';
import { Ignores } from './ignores.js';
import './golden.css';

type Parameters = ViewProps['parameters'];

const Found = ({
  answer,
  parameters,
  reload,
}: {
  answer: SearchAnswer;
  parameters: Parameters;
  reload: () => void;
}) => {
  const { results } = answer;
  const at = results.findIndex(({ test, digest }) => test === parameters.test && digest === parameters.digest);
  const look = ({ test, digest }: FoundDigest): void => goTo('golden', { ...parameters, test, digest });
  const move = (by: number): void => {
    const next = results[Math.min(Math.max(at + by, 0), results.length - 1)];
    if (next !== undefined) look(next);
  };
  useKeys([
    { key: 'j', does: 'next digest', act: () => move(1) },
    { key: 'k', does: 'previous digest', act: () => move(-1) },
  ]);
  const found = results[at];
  return (
    <>
      <p role="status">
        {answer.total} digests: {answer.totals.untriaged} untriaged, {answer.totals.positive} positive,{' '}
        {answer.totals.negative} negative; {answer.ignoredTraces} traces ignored
        {answer.reason !== undefined && `. ${answer.reason}`}
        {answer.total > results.length && `. The first ${results.length} are shown: narrow the search`}
      </p>
      {found !== undefined && <Digest key={`${found.test} ${found.digest}`} found={found} onChange={reload} />}
      {results.length === 0 ? (
        <p>Nothing here needs you. Choose all statuses to see what was triaged.</p>
      ) : (
        <section class="scroll" aria-label="Digests">
          <table>
            <thead>
              <tr>
                <th scope="col">Digest</th>
                <th scope="col">Test</th>
                <th scope="col">Status</th>
                <th scope="col" class="number">
                  Since
                </th>
                <th scope="col" class="number">
                  Traces
                </th>
              </tr>
            </thead>
            <tbody>
              {results.map((one) => (
                <tr key={`${one.test} ${one.digest}`}>
                  <td>
                    <button type="button" class="mono" aria-pressed={one === found} onClick={() => look(one)}>
                      {one.digest.slice(0, 8)}
                    </button>
                  </td>
                  <td>{one.test}</td>
                  <td class={one.status}>{one.status}</td>
                  <td class="number">{one.firstCommit}</td>
                  <td class="number">{one.traces}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
};

const Digests = ({ parameters }: { parameters: Parameters }) => {
  const { query = '', status = 'all' } = parameters;
  const [asked, setAsked] = useState(0);
  const [text, setText] = useState(query);
  const reload = (): void => setAsked(asked + 1);
  const answer = useRequest(`${query} ${status} ${asked}`, (signal) =>
    get<SearchAnswer>('golden/search', { query, status }, signal),
  );
  return (
    <div class="golden">
      <h1>Golden</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          goTo('golden', { ...parameters, query: text });
        }}
      >
        <input
          type="search"
          aria-label="query"
          placeholder="all traces"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <select
          aria-label="status"
          value={status}
          onChange={(event) => goTo('golden', { ...parameters, status: event.currentTarget.value })}
        >
          {['all', 'untriaged', 'positive', 'negative'].map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
        <button type="submit">Search</button>
      </form>
      <Answer of={answer}>{(value) => <Found answer={value} parameters={parameters} reload={reload} />}</Answer>
      <Ignores onChange={reload} />
    </div>
  );
};

const Golden = ({ parameters, sources }: ViewProps) =>
  sources.gold ? (
    <Digests parameters={parameters} />
  ) : (
    <Empty title="No Gold store is open" command="spanline ui --gold-store ./gold" />
  );
export default Golden;
