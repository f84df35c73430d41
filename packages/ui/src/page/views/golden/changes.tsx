// What changed at which commit, newest first: the tests whose traces took on another digest, what they had before, and what people said of both.
import type { ChangedDigest, ChangesAnswer, KnownCommits, Status } from '../../../api/golden/answers.js';
import { get } from '../../api/client.js';
import { useRequest } from '../../api/use-request.js';
import { useKeys } from '../../shell/keys.js';
import { goTo, type ViewProps } from '../../shell/location.js';
import { Answer } from '../../shell/states.js';
import { counted } from '../../shell/units.js';
import { commitText, windowOf } from './commits.js';

type Parameters = ViewProps['parameters'];

const Said = ({ digest, status }: { digest: string; status: Status }) => (
  <>
    <code>{digest.slice(0, 8)}</code> <span class={status}>{status}</span>
  </>
);

const Change = ({
  change,
  commit,
  known,
  isLookedAt,
  look,
}: {
  change: ChangedDigest;
  commit: number;
  known: KnownCommits;
  isLookedAt: boolean;
  look: () => void;
}) => {
  const { test, digest, status, before, traces, firstSuspect } = change;
  return (
    <tr>
      <td>{test}</td>
      <td>{before === undefined ? 'first result' : <Said {...before} />}</td>
      <td>
        <button type="button" class="mono" aria-pressed={isLookedAt} onClick={look}>
          {digest.slice(0, 8)}
        </button>{' '}
        <span class={status}>{status}</span>
      </td>
      <td class="number">{traces}</td>
      <td>{firstSuspect === commit ? commit : `${commitText(firstSuspect, known)} to ${commit}`}</td>
    </tr>
  );
};

const Commits = ({ answer, parameters }: { answer: ChangesAnswer; parameters: Parameters }) => {
  const { commits, total, totals, ignoredTraces, reason, older, known } = answer;
  const all = commits.flatMap(({ commit, changes }) => changes.map((change) => ({ commit, change })));
  const isLookedAt = ({ commit, change }: (typeof all)[number]): boolean =>
    change.test === parameters.test &&
    change.digest === parameters.digest &&
    (parameters.commit ?? String(commit)) === String(commit);
  const look = ({ commit, change: { test, digest } }: (typeof all)[number]): void =>
    goTo('golden', { ...parameters, test, digest, commit: String(commit) });
  const at = all.findIndex(isLookedAt);
  const move = (by: number): void => {
    const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
    if (next !== undefined) look(next);
  };
  useKeys([
    { key: 'j', does: 'next change', act: () => move(1) },
    { key: 'k', does: 'previous change', act: () => move(-1) },
  ]);
  return (
    <>
      <p role="status">
        {counted(total, 'change')}: {totals.positive} to positive, {totals.negative} to negative, {totals.untriaged}{' '}
        untriaged; {counted(ignoredTraces, 'trace')} ignored
        {reason !== undefined && `. ${reason}`}
        {total > all.length && `. The newest ${all.length} are shown`}
      </p>
      {commits.map(({ commit, changes }) => (
        <section key={commit} class="scroll" aria-labelledby={`commit-${commit}`}>
          <h2 id={`commit-${commit}`}>Commit {commitText(commit, known)}</h2>
          <table>
            <thead>
              <tr>
                <th scope="col">Test</th>
                <th scope="col">Before</th>
                <th scope="col">Now</th>
                <th scope="col" class="number">
                  Traces
                </th>
                <th scope="col">Brought by</th>
              </tr>
            </thead>
            <tbody>
              {changes.map((change) => (
                <Change
                  key={`${change.test} ${change.digest} ${change.before?.digest}`}
                  change={change}
                  commit={commit}
                  known={known}
                  isLookedAt={isLookedAt({ commit, change })}
                  look={() => look({ commit, change })}
                />
              ))}
            </tbody>
          </table>
        </section>
      ))}
      {commits.length === 0 && <p>Nothing changed at these commits.</p>}
      <nav class="lists" aria-label="Commits">
        <button
          type="button"
          disabled={older === undefined}
          onClick={() => goTo('golden', { ...parameters, last: String(older), test: undefined, digest: undefined })}
        >
          Older changes
        </button>
        {parameters.last !== undefined && (
          <button
            type="button"
            onClick={() => goTo('golden', { ...parameters, last: undefined, test: undefined, digest: undefined })}
          >
            Newest changes
          </button>
        )}
      </nav>
    </>
  );
};

/** `asked` counts how often the store was changed from here. */
export const Changes = ({ parameters, asked }: { parameters: Parameters; asked: number }) => {
  const { query = '', status = 'all' } = parameters;
  const asking = { query, status, ...windowOf(parameters) };
  const answer = useRequest(`changes ${JSON.stringify(asking)} ${asked}`, (signal) =>
    get<ChangesAnswer>('golden/changes', asking, signal),
  );
  return <Answer of={answer}>{(value) => <Commits answer={value} parameters={parameters} />}</Answer>;
};
