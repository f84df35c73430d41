// The digests that a search finds, as a table.
import type { FoundDigest, SearchAnswer } from '../../../api/golden/answers.js';
import { get } from '../../api/client.js';
import { useRequest } from '../../api/use-request.js';
import { useKeys } from '../../shell/keys.js';
import { goTo, type ViewProps } from '../../shell/location.js';
import { Answer } from '../../shell/states.js';
import { counted } from '../../shell/units.js';
import { commitText, offsetOf, PAGE, windowOf } from './commits.js';

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
        {counted(answer.total, 'digest')}: {answer.totals.untriaged} untriaged, {answer.totals.positive} positive,{' '}
        {answer.totals.negative} negative; {counted(answer.ignoredTraces, 'trace')} ignored
        {answer.reason !== undefined && `. ${answer.reason}`}
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
                <th scope="col">Since</th>
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
                  <td>{commitText(one.firstCommit, answer.known)}</td>
                  <td class="number">{one.traces}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <Pages total={answer.total} shown={results.length} parameters={parameters} />
    </>
  );
};

const Pages = ({ total, shown, parameters }: { total: number; shown: number; parameters: Parameters }) => {
  const offset = offsetOf(parameters);
  const show = (from: number): void =>
    goTo('golden', { ...parameters, offset: from > 0 ? String(from) : undefined, test: undefined, digest: undefined });
  if (total <= PAGE && offset === 0) return null;
  return (
    <nav class="lists" aria-label="Pages">
      <button type="button" disabled={offset === 0} onClick={() => show(Math.max(0, offset - PAGE))}>
        Previous {PAGE}
      </button>
      <span>
        {shown === 0 ? 'none' : `${offset + 1} to ${offset + shown}`} of {total}
      </span>
      <button type="button" disabled={offset + shown >= total} onClick={() => show(offset + PAGE)}>
        Next {PAGE}
      </button>
    </nav>
  );
};

/** `asked` counts how often the store was changed from here. */
export const Found = ({ parameters, asked }: { parameters: Parameters; asked: number }) => {
  const { query = '', status = 'all' } = parameters;
  const asking = { query, status, ...windowOf(parameters), offset: offsetOf(parameters) };
  const answer = useRequest(`${JSON.stringify(asking)} ${asked}`, (signal) =>
    get<SearchAnswer>('golden/search', asking, signal),
  );
  return <Answer of={answer}>{(value) => <Table answer={value} parameters={parameters} />}</Answer>;
};
