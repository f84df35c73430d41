// What is listed of a Gold store: the digests that a search finds, or what changed at which commit, newest first, with what was there before and what
// people said of both. Which commits and which page of the answer are looked at is said by the address, the same for both lists and the digest.

import type {
  ChangedDigest,
  ChangesAnswer,
  FoundDigest,
  KnownCommits,
  SearchAnswer,
  Status,
} from '../../../api/golden/answers.js';
import { useGet } from '../../api/client.js';
import { useMoves } from '../../shell/controls.js';
import { goTo, type ViewProps } from '../../shell/location.js';
import { Answer } from '../../shell/states.js';
import { counted, dayOf, Table } from '../../shell/texts.js';

type Parameters = ViewProps['parameters'];

export const COMMITS = ['20', '100', '500', '2000', '10000'];
const PAGE = 100;

/** Parameters of a request, those of the commits. */
export const windowOf = ({ commits = '100', last }: Parameters) => ({ commits, last });

/** The first result that is shown. */
const offsetOf = ({ offset = '0' }: Parameters): number => (/^\d{1,6}$/.test(offset) ? Number(offset) : 0);

const HASH_DIGITS = 10;

/** As text, for headings and lists. */
export const commitText = (commit: number, known: KnownCommits): string => {
  const info = known[commit];
  if (info === undefined) return String(commit);
  const day = dayOf(info.timestampMs ?? null);
  return `${commit} (${info.hash.slice(0, HASH_DIGITS)}${day === '' ? '' : `, ${day}`})`;
};

/** Several, the first fifty of them. */
export const commitTexts = (commits: readonly number[], known: KnownCommits): string =>
  commits
    .slice(0, 50)
    .map((commit) => commitText(commit, known))
    .join(', ');

const Digests = ({ answer, parameters }: { answer: SearchAnswer; parameters: Parameters }) => {
  const { results } = answer;
  const at = results.findIndex(({ test, digest }) => test === parameters.test && digest === parameters.digest);
  const look = ({ test, digest }: FoundDigest): void => goTo('golden', { ...parameters, test, digest });
  useMoves('digest', results, at, look);
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
          <Table head={['Digest', 'Test', 'Status', 'Since', 'Traces']} align="llllr">
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
          </Table>
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
    <nav class="flow" aria-label="Pages">
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
  const answer = useGet<SearchAnswer>('golden/search', asking, asked);
  return <Answer of={answer}>{(value) => <Digests answer={value} parameters={parameters} />}</Answer>;
};

const Said = ({ digest, status }: { digest: string; status: Status }) => (
  <>
    <code>{digest.slice(0, 8)}</code> <span class={status}>{status}</span>
  </>
);

interface ChangeProps extends ChangedDigest {
  readonly commit: number;
  readonly known: KnownCommits;
  readonly isLookedAt: boolean;
  readonly look: () => void;
}

const Change = ({
  test,
  digest,
  status,
  before,
  traces,
  firstSuspect,
  commit,
  known,
  isLookedAt,
  look,
}: ChangeProps) => (
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

const Commits = ({ answer, parameters }: { answer: ChangesAnswer; parameters: Parameters }) => {
  const { commits, total, totals, ignoredTraces, reason, older, known } = answer;
  const all = commits.flatMap(({ commit, changes }) => changes.map((change) => ({ commit, change })));
  const isLookedAt = ({ commit, change }: (typeof all)[number]): boolean =>
    change.test === parameters.test &&
    change.digest === parameters.digest &&
    (parameters.commit ?? String(commit)) === String(commit);
  const look = ({ commit, change: { test, digest } }: (typeof all)[number]): void =>
    goTo('golden', { ...parameters, test, digest, commit: String(commit) });
  useMoves('change', all, all.findIndex(isLookedAt), look);
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
          <Table head={['Test', 'Before', 'Now', 'Traces', 'Brought by']} align="lllrl">
            {changes.map((change) => (
              <Change
                key={`${change.test} ${change.digest} ${change.before?.digest}`}
                {...change}
                commit={commit}
                known={known}
                isLookedAt={isLookedAt({ commit, change })}
                look={() => look({ commit, change })}
              />
            ))}
          </Table>
        </section>
      ))}
      {commits.length === 0 && <p>Nothing changed at these commits.</p>}
      <nav class="flow" aria-label="Commits">
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
  const answer = useGet<ChangesAnswer>('golden/changes', asking, asked);
  return <Answer of={answer}>{(value) => <Commits answer={value} parameters={parameters} />}</Answer>;
};
