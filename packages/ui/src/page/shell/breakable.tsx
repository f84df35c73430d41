// Names with structure, such as those of properties: a line ends between their words, never inside one.
import { Fragment } from 'preact';

/** Behind what stands between words. */
const ENDS = /(?<=[._/:,=-])(?=[^._/:,=-])/;

/** A name beside its value: lines end between words as long as these fit. */
export const Words = ({ text }: { text: string }) => (
  <>
    {text.split(ENDS).map((part, i) => (
      <Fragment key={i}>
        {i > 0 && <wbr />}
        {part}
      </Fragment>
    ))}
  </>
);

/** A name alone: a word that is longer than its place is cut, and whole in the title. */
export const Breakable = ({ text }: { text: string }) => (
  <span class="breakable" title={text}>
    <Words text={text} />
  </span>
);
