// One digest: held against another one by their texts, which commits may have brought it, what people said of it, and the buttons to say more. Only
// text is shown, whatever it holds.

import type { DigestAnswer, HistoryAnswer, ReferenceDigest, Status } from '../../../api/golden/answers.js';
import { post, useGet } from '../../api/client.js';
import { Triage } from '../../shell/controls.js';
import { Answer } from '../../shell/states.js';
import { Breakable, minuteOf } from '../../shell/texts.js';
import { lineDiff } from './line-diff.js';
import { commitText, commitTexts } from './lists.js';

const Lines = ({ from, to, label }: { from: string; to: string; label: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
  <section class="diff" tabIndex={0} aria-label={label}>
    <pre>
      {lineDiff(from, to).map(({ mark, text }, i) => {
        const line = `${mark} ${text}\n`;
        if (mark === '-') return <del key={`${i}`}>{line}</del>;
        return mark === '+' ? <ins key={`${i}`}>{line}</ins> : line;
      })}
    </pre>
  </section>
);

const titleOf = ({ digest, status, roles }: ReferenceDigest): string =>
  `${roles.join(', ')}: ${digest.slice(0, 8)} (${status})`;

/** `chosen` is the digest to hold it against; the first that there is, unless that is one of them. */
const Against = ({
  found,
  chosen,
  choose,
}: {
  found: DigestAnswer;
  chosen?: string;
  choose: (digest: string) => void;
}) => {
  const { digest, text, references } = found;
  const reference = references.find((one) => one.digest === chosen) ?? references[0];
  if (text === undefined)
    return <p class="muted">No text is kept of this digest: what is put with a text is shown here.</p>;
  if (reference === undefined) return <pre>{text}</pre>;
  return (
    <>
      <h3>Against</h3>
      <div class="flow">
        {references.map((one) => (
          <button key={one.digest} type="button" aria-pressed={one === reference} onClick={() => choose(one.digest)}>
            {titleOf(one)}
          </button>
        ))}
      </div>
      {reference.text === undefined ? (
        <>
          <p class="muted">No text is kept of {reference.digest.slice(0, 8)}; this is what it is now.</p>
          <pre>{text}</pre>
        </>
      ) : (
        <Lines
          from={reference.text}
          to={text}
          label={`from ${reference.digest.slice(0, 8)} to ${digest.slice(0, 8)}`}
        />
      )}
    </>
  );
};

const SHOWN_VALUES = 20;

interface DigestProps {
  /** Counts triages. */
  readonly asked: number;
  readonly against: string | undefined;
  readonly holdAgainst: (digest: string) => void;
  /** Called after a triage. */
  readonly onChange: () => void;
}

interface LookedAtProps extends DigestProps {
  readonly test: string;
  readonly digest: string;
  /** Which commits are looked at. */
  readonly window: Readonly<Record<string, string | undefined>>;
}

/** The digest of a test, whatever the list beside it shows. */
export const LookedAt = ({ test, digest, window, ...props }: LookedAtProps) => {
  const found = useGet<DigestAnswer>('golden/digest', { test, digest, ...window }, props.asked);
  return <Answer of={found}>{(value) => <Digest found={value} {...props} />}</Answer>;
};

const Digest = ({ found, asked, against, holdAgainst, onChange }: DigestProps & { found: DigestAnswer }) => {
  const { test, digest, status, suspects, firstCommit, lastCommit, known } = found;
  const history = useGet<HistoryAnswer>('golden/history', { test, digest }, asked);
  const say = (said: Status, note: string): Promise<void> =>
    post('golden/triage', { test, digest, status: said, note }).then(onChange);
  return (
    <section class="box" aria-labelledby="digest-title">
      <h2 id="digest-title">
        {test} <code>{digest}</code>
      </h2>
      <p>
        At commits {commitText(firstCommit, known)} to {commitText(lastCommit, known)}.
        {suspects.length > 0 && ` One of these brought it: ${commitTexts(suspects, known)}.`}
      </p>
      <Triage status={status} say={say} />
      <Against found={found} chosen={against} choose={holdAgainst} />
      <h3>Its traces</h3>
      <dl class="keys">
        {Object.entries(found.params).map(([key, values]) => (
          <div key={key}>
            <dt>
              <Breakable text={key} />
            </dt>
            <dd>{values.slice(0, SHOWN_VALUES).join(', ')}</dd>
          </div>
        ))}
      </dl>
      <h3>What people said</h3>
      <Answer of={history}>
        {(changes) =>
          changes.length === 0 ? (
            <p>Nobody has said anything yet.</p>
          ) : (
            <ul>
              {changes.map(({ from, to, by, atMs, note: why }) => (
                <li key={`${atMs} ${to}`}>
                  {from} → <span class={to}>{to}</span> by {by}, {minuteOf(atMs * 1000)}
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
