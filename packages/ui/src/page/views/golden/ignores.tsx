// The rules that leave traces out of searches for a while: the list, a form to add one, a button to delete one.
import { useState } from 'preact/hooks';
import type { IgnoresAnswer } from '../../../api/golden/answers.js';
import { get, post } from '../../api/client.js';
import { useRequest } from '../../api/use-request.js';
import { Answer, Failure } from '../../shell/states.js';

/** `onChange` is called when rules changed. */
export const Ignores = ({ onChange }: { onChange: () => void }) => {
  const [asked, setAsked] = useState(0);
  const [query, setQuery] = useState('');
  const [note, setNote] = useState('');
  const [days, setDays] = useState(7);
  const [error, setError] = useState<Error>();
  const rules = useRequest(String(asked), (signal) => get<IgnoresAnswer>('golden/ignores', {}, signal));
  const send = (path: string, body: unknown): void => {
    post(path, body).then(() => {
      setError(undefined);
      setAsked(asked + 1);
      onChange();
    }, setError);
  };
  return (
    <section aria-labelledby="ignores-title">
      <h2 id="ignores-title">Ignored for a while</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send('golden/ignores/add', { query, days, note });
        }}
      >
        <input
          type="search"
          aria-label="query to ignore"
          placeholder="gpu=mali"
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
        <input
          aria-label="why to ignore"
          placeholder="why"
          value={note}
          onInput={(event) => setNote(event.currentTarget.value)}
        />
        <label>
          days{' '}
          <input
            type="number"
            min={1}
            max={3650}
            value={days}
            onInput={(event) => setDays(event.currentTarget.valueAsNumber)}
          />
        </label>
        <button type="submit">Ignore</button>
      </form>
      {error !== undefined && <Failure error={error} />}
      <Answer of={rules}>
        {(all) => (
          <ul>
            {all.map((rule) => (
              <li key={rule.id}>
                <code>{rule.query}</code> until {new Date(rule.expiresMs).toISOString().slice(0, 10)} by {rule.by}{' '}
                {rule.note}{' '}
                <button
                  type="button"
                  aria-label={`delete the rule ${rule.query}`}
                  onClick={() => send('golden/ignores/delete', { id: rule.id })}
                >
                  Delete
                </button>
              </li>
            ))}
          </ul>
        )}
      </Answer>
    </section>
  );
};
