// One digest: what it is against what was there before, which commits may have brought it, what people said of it, and the buttons to say more.
import { useState } from 'preact/hooks';
import type { DigestAnswer, HistoryAnswer, Status } from '../../../api/golden/answers.js';
import { get, post } from '../../api/client.js';
import { useRequest } from '../../api/use-request.js';
import { Breakable } from '../../shell/breakable.js';
import { Answer, Failure } from '../../shell/states.js';
import { minuteOf } from '../../shell/units.js';
import { Against } from './against.js';
import { commitText, commitTexts } from './commits.js';

const SHOWN_VALUES = 20;
const STATUSES: readonly Status[] = ['positive', 'negative', 'untriaged'];

/** The digest of a test, whatever the list beside it shows; `onChange` is called after a triage, `asked` counts those. */
export const LookedAt = ({
  test,
  digest,
  window,
  asked,
  against,
  holdAgainst,
  onChange,
}: {
  test: string;
  digest: string;
  /** Which commits are looked at. */
  window: Readonly<Record<string, string | undefined>>;
  asked: number;
  against: string | undefined;
  holdAgainst: (digest: string) => void;
  onChange: () => void;
}) => {
  const found = useRequest(`${test} ${digest} ${JSON.stringify(window)} ${asked}`, (signal) =>
    get<DigestAnswer>('golden/digest', { test, digest, ...window }, signal),
  );
  return (
    <Answer of={found}>
      {(value) => <Digest found={value} against={against} holdAgainst={holdAgainst} onChange={onChange} />}
    </Answer>
  );
};

const Digest = ({
  found,
  against,
  holdAgainst,
  onChange,
}: {
  found: DigestAnswer;
  against: string | undefined;
  holdAgainst: (digest: string) => void;
  onChange: () => void;
}) => {
  const { test, digest, status, suspects, firstCommit, lastCommit, known } = found;
  const [note, setNote] = useState('');
  const [error, setError] = useState<Error>();
  const history = useRequest(`${test} ${digest} ${status}`, (signal) =>
    get<HistoryAnswer>('golden/history', { test, digest }, signal),
  );
  const say = (said: Status): void => {
    post('golden/triage', { test, digest, status: said, note }).then(() => {
      setError(undefined);
      onChange();
    }, setError);
  };
  return (
    <section class="looked-at" aria-labelledby="digest-title">
      <h2 id="digest-title">
        {test} <code>{digest}</code>
      </h2>
      <p>
        At commits {commitText(firstCommit, known)} to {commitText(lastCommit, known)}.
        {suspects.length > 0 && ` One of these brought it: ${commitTexts(suspects, known)}.`}
      </p>
      <div class="triage">
        <input
          aria-label="note"
          placeholder="why"
          maxLength={1000}
          value={note}
          onInput={(event) => setNote(event.currentTarget.value)}
        />
        {STATUSES.map((one) => (
          <button key={one} type="button" aria-pressed={status === one} onClick={() => say(one)}>
            {one}
          </button>
        ))}
      </div>
      {error !== undefined && <Failure error={error} />}
      <Against found={found} chosen={against} choose={holdAgainst} />
      <h3>Its traces</h3>
      <dl class="params">
        {Object.entries(found.params).map(([key, values]) => (
          <div key={key}>
            <dt>
              <Breakable text={key} />
            </dt>
            <dd>{values.slice(0, SHOWN_VALUES).join(', ')}</dd>
          </div>
        ))}
      </dl>
      <h3>What people said</h3>
      <Answer of={history}>
        {(changes) =>
          changes.length === 0 ? (
            <p>Nobody has said anything yet.</p>
          ) : (
            <ul>
              {changes.map(({ from, to, by, atMs, note: why }) => (
                <li key={`${atMs} ${to}`}>
                  {from} → <span class={to}>{to}</span> by {by}, {minuteOf(atMs * 1000)}
                  {why ? `: ${why}` : ''}
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </section>
  );
};
