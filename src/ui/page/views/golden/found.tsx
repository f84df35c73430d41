// The digests that a search finds, as a table.
import type { FoundDigest, SearchAnswer } from '../../../api/golden/answers.js';
import { get } from '../../api/client.js';
import { useRequest } from '../../api/use-request.js';
import { useKeys } from '../../shell/keys.js';
import { goTo } from '../../shell/location.js';
import { Answer } from '../../shell/states.js';
import type { ViewProps } from '../../shell/view-props.js';

type Parameters = ViewProps['parameters'];

const Table = ({ answer, parameters }: { answer: SearchAnswer; parameters: Parameters }) => {
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

/** `asked` counts how often the store was changed from here. */
export const Found = ({ parameters, asked }: { parameters: Parameters; asked: number }) => {
  const { query = '', status = 'all' } = parameters;
  const answer = useRequest(`${query} ${status} ${asked}`, (signal) =>
    get<SearchAnswer>('golden/search', { query, status }, signal),
  );
  return <Answer of={answer}>{(value) => <Table answer={value} parameters={parameters} />}</Answer>;
};
