// Two commits to compare, chosen in the plot or typed: what lies between them, whether or not anything changed there for good.
import { useEffect, useState } from 'preact/hooks';
import type { CommitColumns, SourceName } from '../../../api/history/answers.js';
import { Between } from './between.js';
import { placeOf, shortHash } from './commit-refs.js';

/** Commits offered while one types: the newest. */
const OFFERED = 200;

export interface Chosen {
  readonly a?: string;
  readonly b?: string;
}

const Field = ({ label, value, set }: { label: string; value: string; set: (text: string) => void }) => (
  <label>
    {label}{' '}
    <input
      class="mono"
      list="commits-to-compare"
      placeholder="commit"
      value={value}
      onInput={(event) => set(event.currentTarget.value.trim())}
    />
  </label>
);

/** `choose` puts both into the address. */
export const TwoCommits = ({
  source,
  commits,
  query,
  chosen: { a = '', b = '' },
  choose,
}: {
  source: SourceName;
  commits: CommitColumns;
  query: string;
  chosen: Chosen;
  choose: (chosen: Chosen) => void;
}) => {
  const [first, setFirst] = useState(a);
  const [second, setSecond] = useState(b);
  useEffect(() => setFirst(a), [a]);
  useEffect(() => setSecond(b), [b]);
  const [from, to] = [placeOf(commits, a), placeOf(commits, b)].sort((x, y) => x - y);
  const unknown = [a, b].filter((text) => text !== '' && placeOf(commits, text) < 0);
  return (
    <section class="two-commits" aria-labelledby="two-title">
      <h2 id="two-title">Between two commits</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          choose({ a: first, b: second });
        }}
      >
        <Field label="from" value={first} set={setFirst} />
        <Field label="to" value={second} set={setSecond} />
        <button type="submit">Compare</button>
        <datalist id="commits-to-compare">
          {commits.hashes.slice(-OFFERED).map((hash) => (
            <option key={hash} value={shortHash(hash)} />
          ))}
        </datalist>
      </form>
      {a === '' && b === '' && <p class="muted">Click two commits in a plot, or type how they begin.</p>}
      {unknown.length > 0 && <p role="alert">No commit that is drawn begins with {unknown.join(' or ')}.</p>}
      {a !== '' && b !== '' && unknown.length === 0 && from < to && (
        <Between
          source={source}
          from={commits.numbers[from]}
          to={commits.numbers[to]}
          query={query}
          title={`after ${shortHash(commits.hashes[from])}, up to ${shortHash(commits.hashes[to])}`}
        />
      )}
    </section>
  );
};
