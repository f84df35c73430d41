// One digest: what its traces are, which commits may have brought it, what people said of it, and the buttons to say more.
import { useState } from 'preact/hooks';
import type { FoundDigest, HistoryAnswer, Status } from '../../../api/golden/answers.js';
import { get, post } from '../../api/client.js';
import { useRequest } from '../../api/use-request.js';
import { Answer, Failure } from '../../shell/states.js';

const STATUSES: readonly Status[] = ['positive', 'negative', 'untriaged'];

/** The digest of a test, whatever the list beside it shows; `onChange` is called after a triage, `asked` counts those. */
export const LookedAt = ({
  test,
  digest,
  asked,
  onChange,
}: {
  test: string;
  digest: string;
  asked: number;
  onChange: () => void;
}) => {
  const found = useRequest(`${test} ${digest} ${asked}`, (signal) =>
    get<FoundDigest>('golden/digest', { test, digest }, signal),
  );
  return <Answer of={found}>{(value) => <Digest found={value} onChange={onChange} />}</Answer>;
};

const Digest = ({ found, onChange }: { found: FoundDigest; onChange: () => void }) => {
  const { test, digest, status, suspects, firstCommit, lastCommit } = found;
  const [note, setNote] = useState('');
  const [error, setError] = useState<Error>();
  const history = useRequest(`${test} ${digest} ${status}`, (signal) =>
    get<HistoryAnswer>('golden/history', { test, digest }, signal),
  );
  const say = (said: Status): void => {
    post('golden/triage', { test, digest, status: said, note }).then(onChange, setError);
  };
  return (
    <section class="looked-at" aria-labelledby="digest-title">
      <h2 id="digest-title">
        {test} <code>{digest}</code>
      </h2>
      <p>
        At commits {firstCommit} to {lastCommit}.
        {suspects.length > 0 && ` One of these brought it: ${suspects.slice(0, 50).join(', ')}.`}
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
      {Object.entries(found.params).map(([key, values]) => (
        <div key={key}>
          <h3>{key}</h3>
          {values.slice(0, 20).map((value) => (
            <pre key={value}>{value}</pre>
          ))}
        </div>
      ))}
      <h3>What people said</h3>
      <Answer of={history}>
        {(changes) =>
          changes.length === 0 ? (
            <p>Nobody has said anything yet.</p>
          ) : (
            <ul>
              {changes.map(({ from, to, by, atMs, note: why }) => (
                <li key={`${atMs} ${to}`}>
                  {from} → <span class={to}>{to}</span> by {by}, {new Date(atMs).toISOString().slice(0, 16)}
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
