// One change: what was said of it and by whom, the commits that may have made it, and what else differs between them.
import { useState } from 'preact/hooks';
import type { ChangeAnswer, SourceName } from '../../../api/history/answers.js';
import { post } from '../../api/client.js';
import { Words } from '../../shell/breakable.js';
import { Failure } from '../../shell/states.js';
import { dayOf, figure, percent } from '../../shell/units.js';
import { Between } from './between.js';
import { shortHash } from './commit-refs.js';

const STATUSES = ['positive', 'negative', 'untriaged'] as const;
const MEANINGS = { positive: 'It is real', negative: 'It is noise', untriaged: 'Not judged' } as const;

const Triage = ({ source, change, onChange }: { source: SourceName; change: ChangeAnswer; onChange: () => void }) => {
  const [note, setNote] = useState(change.note ?? '');
  const [error, setError] = useState<Error>();
  const say = async (status: (typeof STATUSES)[number]): Promise<void> => {
    try {
      await post(`history/triage?source=${source}`, { commit: change.commit, key: change.key, status, note });
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

/** `onChange` is called after a triage. */
export const Step = ({
  source,
  change,
  query,
  onChange,
}: {
  source: SourceName;
  change: ChangeAnswer;
  query: string;
  onChange: () => void;
}) => (
  <section class="step" aria-labelledby="step-title">
    <h2 id="step-title">
      <span class={change.kind}>{percent(change.change)}</span> at <code>{shortHash(change.hash)}</code>
    </h2>
    <p>
      <Words text={change.key} />: {figure(change.before)} → {figure(change.after)} {change.unit}
    </p>
    <Triage key={`${change.commit} ${change.key}`} source={source} change={change} onChange={onChange} />
    <Between source={source} from={change.lastBefore} to={change.commit} query={query} title="that may have made it" />
  </section>
);
