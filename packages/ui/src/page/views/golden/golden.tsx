// Digests of results by commit: a search, the digests that it finds or what changed at which commit, the digest that is looked at, and the rules that
// leave traces out of searches for a while.

import { useEffect, useState } from 'preact/hooks';
import type { IgnoresAnswer } from '../../../api/golden/answers.js';
import { post, useGet } from '../../api/client.js';
import { Options, Select, TextField } from '../../shell/controls.js';
import { goTo, type ViewProps } from '../../shell/location.js';
import { Answer, Empty, Failure } from '../../shell/states.js';
import { LookedAt } from './digest.js';
import { Changes, COMMITS, Found, windowOf } from './lists.js';
import './golden.css';

/** `onChange` is called when rules changed. */
export const Ignores = ({ onChange }: { onChange: () => void }) => {
  const [asked, setAsked] = useState(0);
  const [query, setQuery] = useState('');
  const [note, setNote] = useState('');
  const [days, setDays] = useState(7);
  const [error, setError] = useState<Error>();
  const rules = useGet<IgnoresAnswer>('golden/ignores', {}, asked);
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
        class="flow"
        onSubmit={(event) => {
          event.preventDefault();
          send('golden/ignores/add', { query, days, note });
        }}
      >
        <TextField type="search" aria-label="query to ignore" placeholder="gpu=mali" value={query} set={setQuery} />
        <TextField aria-label="why to ignore" placeholder="why" value={note} set={setNote} />
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

type Parameters = ViewProps['parameters'];

const STATUSES = ['all', 'untriaged', 'positive', 'negative'];

/** What is listed, by the parameter `by`. */
const LISTS = [
  { by: undefined, title: 'Digests' },
  { by: 'commit', title: 'Changes by commit' },
] as const;

const Search = ({ parameters }: { parameters: Parameters }) => {
  const { query = '', status = 'all', commits = '100' } = parameters;
  const [text, setText] = useState(query);
  useEffect(() => setText(query), [query]);
  // Another search begins at its first page.
  const search = (changed: Readonly<Record<string, string | undefined>>): void =>
    goTo('golden', { ...parameters, offset: undefined, last: undefined, ...changed });
  return (
    <form
      class="flow"
      onSubmit={(event) => {
        event.preventDefault();
        search({ query: text });
      }}
    >
      <TextField type="search" aria-label="query" placeholder="all traces" value={text} set={setText} />
      <select aria-label="status" value={status} onChange={(event) => search({ status: event.currentTarget.value })}>
        <Options of={STATUSES} />
      </select>
      <button type="submit">Search</button>
      <Select label="Commits with data" value={commits} of={COMMITS} change={(count) => search({ commits: count })} />
    </form>
  );
};

const Digests = ({ parameters }: { parameters: Parameters }) => {
  const { by, test, digest } = parameters;
  const [asked, setAsked] = useState(0);
  const reload = (): void => setAsked(asked + 1);
  const List = by === 'commit' ? Changes : Found;
  return (
    <div class="golden">
      <h1>Golden</h1>
      <div class="flow">
        {LISTS.map((list) => (
          <button
            key={list.title}
            type="button"
            aria-pressed={list.by === by}
            onClick={() => goTo('golden', { ...parameters, by: list.by, offset: undefined, last: undefined })}
          >
            {list.title}
          </button>
        ))}
      </div>
      <Search parameters={parameters} />
      {test !== undefined && digest !== undefined && (
        <LookedAt
          key={`${test} ${digest}`}
          test={test}
          digest={digest}
          window={windowOf(parameters)}
          asked={asked}
          against={parameters.against}
          holdAgainst={(against) => goTo('golden', { ...parameters, against }, true)}
          onChange={reload}
        />
      )}
      <List parameters={parameters} asked={asked} />
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
