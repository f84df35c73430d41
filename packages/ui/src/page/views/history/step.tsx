// What lies between two commits: those around a change, with what was said of it and by whom, or two that were chosen in the plot or typed, whether
// or not anything changed there for good.

import { useEffect, useState } from 'preact/hooks';
import type { ChangeAnswer, CommitColumns, SourceName, StepAnswer } from '../../../api/history/answers.js';
import { post, useGet } from '../../api/client.js';
import { Triage } from '../../shell/controls.js';
import { Answer } from '../../shell/states.js';
import { Breakable, counted, dayOf, figure, percent, Scrolling, Table, Words } from '../../shell/texts.js';
import { placeOf, shortHash } from './series.js';

const Found = ({ answer, title }: { answer: StepAnswer; title: string }) => (
  <>
    <h3>
      {counted(answer.commits.numbers.length + answer.left, 'commit')} {title}
    </h3>
    <ul>
      {answer.commits.hashes.map((hash, i) => (
        <li key={hash}>
          <code>{hash}</code> <span class="muted">{dayOf(answer.commits.times[i] ?? null)}</span>
        </li>
      ))}
    </ul>
    {answer.left > 0 && <p class="muted">{answer.left} older ones are not listed.</p>}
    <h3>Values before and after</h3>
    <Scrolling label="Values before and after">
      <Table head={['Series', 'Before', 'After', 'Change']} align="lrrr">
        {answer.compared.map((one) => (
          <tr key={one.key}>
            <td class="key">
              <Breakable text={one.key} />
            </td>
            <td class="number">{figure(one.before)}</td>
            <td class="number">{figure(one.after)}</td>
            <td class={`number ${one.verdict}`}>{percent(one.change)}</td>
          </tr>
        ))}
      </Table>
      {answer.compared.length === 0 && <p class="muted">No series of the query has a value at both commits.</p>}
      {answer.comparedLeft > 0 && <p class="muted">{answer.comparedLeft} more: narrow the query.</p>}
    </Scrolling>
  </>
);

interface Asked {
  readonly source: SourceName;
  readonly query: string;
}

interface BetweenProps extends Asked {
  /** Numbers of commits. */
  readonly from: number;
  readonly to: number;
  /** Which commits those are. */
  readonly title: string;
}

const Between = ({ title, ...asked }: BetweenProps) => {
  const answer = useGet<StepAnswer>('history/step', asked);
  return <Answer of={answer}>{(value) => <Found answer={value} title={title} />}</Answer>;
};

const MEANINGS = { positive: 'It is real', negative: 'It is noise', untriaged: 'Not judged' } as const;

const Said = ({ change: { status, by, atMs, note } }: { change: ChangeAnswer }) => (
  <p role="status">
    <span class={status}>{status}</span>
    {by !== undefined && ` by ${by}, ${dayOf(atMs ?? null)}`}
    {note ? `: ${note}` : ''}
  </p>
);

/** `onChange` is called after a triage. */
export const Step = ({ source, change, query, onChange }: Asked & { change: ChangeAnswer; onChange: () => void }) => {
  const { commit, key } = change;
  return (
    <section class="step box" aria-labelledby="step-title">
      <h2 id="step-title">
        <span class={change.kind}>{percent(change.change)}</span> at <code>{shortHash(change.hash)}</code>
      </h2>
      <p>
        <Words text={change.key} />: {figure(change.before)} → {figure(change.after)} {change.unit}
      </p>
      <Triage
        key={`${commit} ${key}`}
        status={change.status}
        note={change.note}
        words={MEANINGS}
        say={(status, note) => post(`history/triage?source=${source}`, { commit, key, status, note }).then(onChange)}
      />
      <Said change={change} />
      <Between
        source={source}
        from={change.lastBefore}
        to={change.commit}
        query={query}
        title="that may have made it"
      />
    </section>
  );
};

/** Commits offered while one types: the newest. */
const OFFERED = 200;

interface Chosen {
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

interface TwoCommitsProps extends Asked {
  readonly commits: CommitColumns;
  readonly chosen: Chosen;
  /** Puts both into the address. */
  readonly choose: (chosen: Chosen) => void;
}

export const TwoCommits = ({ source, commits, query, chosen, choose }: TwoCommitsProps) => {
  const { a = '', b = '' } = chosen;
  const [first, setFirst] = useState(a);
  const [second, setSecond] = useState(b);
  useEffect(() => setFirst(a), [a]);
  useEffect(() => setSecond(b), [b]);
  const [from, to] = [placeOf(commits, a), placeOf(commits, b)].sort((x, y) => x - y);
  const unknown = [a, b].filter((text) => text !== '' && placeOf(commits, text) < 0);
  return (
    <section aria-labelledby="two-title">
      <h2 id="two-title">Between two commits</h2>
      <form
        class="flow"
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
