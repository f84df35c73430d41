// One change: what was said of it and by whom, the commits that may have made it, and what else differs between them.
import { useState } from 'preact/hooks';
import type { ChangeAnswer, StepAnswer } from '../../../api/history/answers.js';
import { get, post } from '../../api/client.js';
import { useRequest } from '../../api/use-request.js';
import { Answer, Failure } from '../../shell/states.js';
import { dayOf, figure, percent } from './figures.js';

const STATUSES = ['positive', 'negative', 'untriaged'] as const;
const MEANINGS = { positive: 'It is real', negative: 'It is noise', untriaged: 'Not judged' } as const;

const Triage = ({ change, onChange }: { change: ChangeAnswer; onChange: () => void }) => {
  const [note, setNote] = useState(change.note ?? '');
  const [error, setError] = useState<Error>();
  const say = async (status: (typeof STATUSES)[number]): Promise<void> => {
    try {
      await post('history/triage', { commit: change.commit, key: change.key, status, note });
      setError(undefined);
      onChange();
    } catch (cause) {
      setError(cause as Error);
    }
  };
  return (
    <>
      <div class="triage">
        <input
          aria-label="note"
          placeholder="why"
          maxLength={1000}
          value={note}
          onInput={(event) => setNote(event.currentTarget.value)}
        />
        {STATUSES.map((status) => (
          <button key={status} type="button" aria-pressed={change.status === status} onClick={() => say(status)}>
            {MEANINGS[status]}
          </button>
        ))}
      </div>
      <p role="status">
        <span class={change.status}>{change.status}</span>
        {change.by !== undefined && ` by ${change.by}, ${dayOf(change.atMs ?? null)}`}
        {change.note ? `: ${change.note}` : ''}
      </p>
      {error !== undefined && <Failure error={error} />}
    </>
  );
};

const Between = ({ answer }: { answer: StepAnswer }) => (
  <>
    <h3>{answer.commits.numbers.length + answer.left} commits that may have made it</h3>
    <ul>
      {answer.commits.hashes.map((hash, i) => (
        <li key={hash}>
          <code>{hash}</code> <span class="muted">{dayOf(answer.commits.times[i] ?? null)}</span>
        </li>
      ))}
    </ul>
    <h3>Values before and after</h3>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
    <section class="scroll" aria-label="Values before and after" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Series</th>
            <th scope="col" class="number">
              Before
            </th>
            <th scope="col" class="number">
              After
            </th>
            <th scope="col" class="number">
              Change
            </th>
          </tr>
        </thead>
        <tbody>
          {answer.compared.map((one) => (
            <tr key={one.key}>
              <td class="key">{one.key}</td>
              <td class="number">{figure(one.before)}</td>
              <td class="number">{figure(one.after)}</td>
              <td class={`number ${one.verdict}`}>{percent(one.change)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  </>
);

/** `onChange` is called after a triage. */
export const Step = ({ change, query, onChange }: { change: ChangeAnswer; query: string; onChange: () => void }) => {
  const { lastBefore: from, commit: to } = change;
  const answer = useRequest(`${from} ${to} ${query}`, (signal) =>
    get<StepAnswer>('history/step', { from, to, query }, signal),
  );
  return (
    <section class="step" aria-labelledby="step-title">
      <h2 id="step-title">
        <span class={change.kind}>{percent(change.change)}</span> at <code>{change.hash.slice(0, 10)}</code>
      </h2>
      <p>
        {change.key}: {figure(change.before)} → {figure(change.after)} {change.unit}
      </p>
      <Triage key={`${change.commit} ${change.key}`} change={change} onChange={onChange} />
      <Answer of={answer}>{(value) => <Between answer={value} />}</Answer>
    </section>
  );
};
