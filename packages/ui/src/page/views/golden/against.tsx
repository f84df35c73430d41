// A digest held against another one: how the texts of both differ. Only text is shown, whatever it holds.
import type { DigestAnswer, ReferenceDigest } from '../../../api/golden/answers.js';
import { lineDiff } from './line-diff.js';

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
export const Against = ({
  found: { digest, text, references },
  chosen,
  choose,
}: {
  found: DigestAnswer;
  chosen: string | undefined;
  choose: (digest: string) => void;
}) => {
  const reference = references.find((one) => one.digest === chosen) ?? references[0];
  if (text === undefined)
    return <p class="muted">No text is kept of this digest: what is put with a text is shown here.</p>;
  if (reference === undefined) return <pre>{text}</pre>;
  return (
    <>
      <h3>Against</h3>
      <div class="lists">
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
