// Digests of results by commit: a search, the digests that it finds or what changed at which commit, the digest that is looked at, and what is
// ignored.
import { useEffect, useState } from 'preact/hooks';
import { goTo, type ViewProps } from '../../shell/location.js';
import { Empty } from '../../shell/states.js';
import { Changes } from './changes.js';
import { COMMITS, windowOf } from './commits.js';
import { LookedAt } from './digest.js';
import { Found } from './found.js';
import { Ignores } from './ignores.js';
import './golden.css';

type Parameters = ViewProps['parameters'];

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
      onSubmit={(event) => {
        event.preventDefault();
        search({ query: text });
      }}
    >
      <input
        type="search"
        aria-label="query"
        placeholder="all traces"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <select aria-label="status" value={status} onChange={(event) => search({ status: event.currentTarget.value })}>
        {['all', 'untriaged', 'positive', 'negative'].map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      <button type="submit">Search</button>
      <label>
        Commits with data{' '}
        <select value={commits} onChange={(event) => search({ commits: event.currentTarget.value })}>
          {(COMMITS.includes(commits) ? COMMITS : [...COMMITS, commits]).map((count) => (
            <option key={count} value={count}>
              {count}
            </option>
          ))}
        </select>
      </label>
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
      <div class="lists">
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
