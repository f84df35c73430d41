// The query at the side: its text, the live count of matches, and all keys with their values to click. It never sends what is being typed before the
// user rests. What the user typed in a form that clicks cannot make must stay as it is.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { KeysAnswer, SourceName } from '../../../api/history/answers.js';
import { decoded, useGet } from '../../api/client.js';
import { TextField } from '../../shell/controls.js';
import { Breakable, counted } from '../../shell/texts.js';

/** A value that begins like a sign of the query language is meant as it stands. */
const written = (key: string, value: string): string =>
  `${encodeURIComponent(key)}=${/^[!~*=]/.test(value) ? '=' : ''}${encodeURIComponent(value)}`;

const isThis = (part: string, key: string, value: string): boolean => {
  const [first = '', ...rest] = part.split('=');
  const read = (written: string): string => decoded(written.replaceAll('+', ' '));
  return read(first) === key && read(rest.join('=').replace(/^=/, '')) === value;
};

const partsOf = (query: string): string[] => query.split('&').filter((part) => part !== '');

/** Whether the query asks for this very value. */
const hasValue = (query: string, key: string, value: string): boolean =>
  partsOf(query).some((part) => isThis(part, key, value));

/** The query with the value taken in, or taken out when it was in it. */
const toggleValue = (query: string, key: string, value: string): string => {
  const parts = partsOf(query);
  const others = parts.filter((part) => !isThis(part, key, value));
  return (others.length < parts.length ? others : [...parts, written(key, value)]).join('&');
};

const REST_MS = 250;

/** What is typed, which goes to the address once the user rests; a query that comes from elsewhere, as by a click or by going back, replaces it. */
const useTyped = (
  query: string,
  type: (query: string) => void,
): readonly [text: string, set: (text: string) => void] => {
  const [text, setText] = useState(query);
  // What was sent comes back later, when more may have been typed: then it is not news.
  const sent = useRef(query);
  useEffect(() => {
    if (query !== sent.current) setText(query);
    sent.current = query;
  }, [query]);
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      type(text);
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, setText];
};

interface Building {
  readonly source: SourceName;
  /** What the address says. */
  readonly query: string;
  /** Called with a query that was clicked together: a step to go back. */
  readonly change: (query: string) => void;
  /** Called with one that is being typed: none. */
  readonly type: (query: string) => void;
}

const countText = ({ count, tile }: KeysAnswer): string =>
  `${counted(count, 'match', 'matches')}${tile === undefined ? '' : `, counted in the newest tile (${tile})`}`;

/** The query, to type and to click. */
export const QueryBuilder = ({ source, query, change, type }: Building) => {
  const [text, setText] = useTyped(query, type);
  const answer = useGet<KeysAnswer>('history/keys', { source, query });
  // The last answer stays while the user mends a query that cannot be read.
  const [known, setKnown] = useState<KeysAnswer>();
  useEffect(() => {
    if (answer.value !== undefined) setKnown(answer.value);
  }, [answer.value]);
  return (
    <aside aria-label="Query">
      <div class="flow">
        <TextField type="search" aria-label="query" placeholder="all series" value={text} set={setText} />
      </div>
      <p role="status" class={answer.error === undefined ? 'muted' : 'failure'}>
        {answer.error?.message ?? (known === undefined ? '…' : countText(known))}
      </p>
      <section class="keys-and-values" aria-label="Keys and values">
        {known?.keys.map(({ key, values, total }) => (
          <details key={key} open={values.some((value) => hasValue(query, key, value))}>
            <summary>
              <Breakable text={key} /> <span class="muted">{total}</span>
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
