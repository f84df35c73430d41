// Texts as people read them: numbers, times and days, names with structure, such as those of properties, where a line ends between words and never
// inside one, how a request ended, and tables. No text here depends on the language of the browser: pictures and links are compared between people. A refused
// request is not an error to a server, but must be seen.
import { type ComponentChildren, Fragment } from 'preact';
import type { RequestStatus } from '../../api/answers.js';

/** Microseconds with three digits that count: `1.25 s`, `340 µs`. */
export const duration = (us: number): string => {
  const [value, unit] = us >= 1e6 ? [us / 1e6, 's'] : us >= 1000 ? [us / 1000, 'ms'] : [us, 'µs'];
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`;
};

/** A moment, `2026-01-31 12:00:00.000`, for what says the zone itself. */
export const bareMoment = (unixUs: number): string =>
  new Date(unixUs / 1000).toISOString().replace('T', ' ').slice(0, 23);

const ZONE = '\u00a0UTC';

/** A moment, with its zone, from which no line parts the time. */
export const moment = (unixUs: number): string => bareMoment(unixUs) + ZONE;

/** The same to the minute. */
export const minuteOf = (unixUs: number): string => bareMoment(unixUs).slice(0, 16) + ZONE;

/** The same without the day. */
export const timeOfDay = (unixUs: number): string => moment(unixUs).slice(11);

export const share = (part: number, whole: number): string => `${whole > 0 ? Math.round((100 * part) / whole) : 0} %`;

/** So many things: `1 commit`, `2 commits`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** A value in at most six digits; nothing for none. */
export const figure = (value: number): string =>
  Number.isNaN(value) ? '' : Number(value.toPrecision(6)).toLocaleString('en', { maximumSignificantDigits: 6 });

/** A value as an axis has it. */
export const compact = (value: number): string =>
  Number(value.toPrecision(6)).toLocaleString('en', { notation: 'compact', maximumSignificantDigits: 6 });

/** A change relative to what was before; infinite (null in JSON) when that was 0. */
export const percent = (change: number | null): string =>
  change === null ? 'from 0' : `${change >= 0 ? '+' : ''}${(change * 100).toFixed(1)} %`;

/** The day of Unix milliseconds; empty where nobody said. */
export const dayOf = (ms: number | null): string => (ms === null ? '' : new Date(ms).toISOString().slice(0, 10));

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

export const Status = ({ http, isFailed }: RequestStatus) => {
  const kind = isFailed || (http ?? 0) >= 500 ? 'failed' : (http ?? 0) >= 400 ? 'refused' : '';
  return <span class={`status ${kind}`}>{[http, isFailed ? 'error' : undefined].filter(Boolean).join(' ')}</span>;
};

/** What may be wider than the page: it scrolls by itself, also by keyboard. */
export const Scrolling = ({ label, children }: { label: string; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
  <section class="scroll" tabIndex={0} aria-label={label}>
    {children}
  </section>
);

interface TableProps {
  readonly class?: string;
  /** Names of the columns; '' for one that the eye alone needs. */
  readonly head: readonly string[];
  /** One letter a column: `r` for numbers, which stand at the right, else `l`. */
  readonly align: string;
  /** Its rows. */
  readonly children: ComponentChildren;
}

/** A table with a head. */
export const Table = ({ class: kind, head, align, children }: TableProps) => (
  <table class={kind}>
    <thead>
      <tr>
        {head.map((name, i) => {
          if (name === '') return <td key={i} aria-hidden="true" />;
          return (
            <th key={i} scope="col" class={align[i] === 'r' ? 'number' : undefined}>
              {name}
            </th>
          );
        })}
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
);
