// The query at the side: its text, the live count of matches, and all keys with their values to click. It never sends what is being typed before
// the user rests.
import { useEffect, useState } from 'preact/hooks';
import type { KeysAnswer } from '../../../api/history/answers.js';
import { get } from '../../api/client.js';
import { useRequest } from '../../api/use-request.js';
import { hasValue, toggleValue } from './query-text.js';

const REST_MS = 250;

/** `query` is what the address says; `change` puts another one there. */
export const QueryBuilder = ({ query, change }: { query: string; change: (query: string) => void }) => {
  const [text, setText] = useState(query);
  useEffect(() => setText(query), [query]);
  useEffect(() => {
    if (text === query) return;
    const timer = setTimeout(() => change(text), REST_MS);
    return () => clearTimeout(timer);
  }, [text, query]);
  const answer = useRequest(query, (signal) => get<KeysAnswer>('history/keys', { query }, signal));
  // The last answer stays while the user mends a query that cannot be read.
  const [known, setKnown] = useState<KeysAnswer>();
  useEffect(() => {
    if (answer.value !== undefined) setKnown(answer.value);
  }, [answer.value]);
  return (
    <aside aria-label="Query">
      <div class="query">
        <input
          type="search"
          aria-label="query"
          placeholder="all series"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <p role="status" class={answer.error === undefined ? 'muted' : 'failure'}>
        {answer.error?.message ?? (known === undefined ? '…' : `${known.count} matches`)}
      </p>
      <section class="keys-and-values" aria-label="Keys and values">
        {known?.keys.map(({ key, values, total }) => (
          <details key={key} open={values.some((value) => hasValue(query, key, value))}>
            <summary>
              {key} <span class="muted">{total}</span>
            </summary>
            <ul>
              {values.map((value) => (
                <li key={value}>
                  <button
                    type="button"
                    aria-pressed={hasValue(query, key, value)}
                    onClick={() => change(toggleValue(query, key, value))}
                  >
                    {value}
                  </button>
                </li>
              ))}
              {total > values.length && (
                <li class="muted">
                  {total - values.length} more: type {key}=~part
                </li>
              )}
            </ul>
          </details>
        ))}
      </section>
    </aside>
  );
};
