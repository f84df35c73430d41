// Controls that several views have: fields, choices, what people say of a thing, and the keys that go along a list. None holds what the address should.
import type { InputHTMLAttributes } from 'preact';
import { useState } from 'preact/hooks';
import { useKeys } from './keys.js';
import { Failure } from './states.js';

/** A field of text. */
export const TextField = ({ set, ...input }: InputHTMLAttributes & { set: (text: string) => void }) => (
  <input {...input} onInput={(event) => set(event.currentTarget.value)} />
);

type Option = string | readonly [value: string, words: string];

/** Options of a select: values, or values with other words. */
export const Options = ({ of }: { of: Iterable<Option> }) => (
  <>
    {Array.from(of, (option) => {
      const [value, words] = typeof option === 'string' ? [option, option] : option;
      return (
        <option key={value} value={value}>
          {words}
        </option>
      );
    })}
  </>
);

export interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly of: readonly Option[];
  readonly change: (value: string) => void;
}

/** A choice with its label. An address may name a value that is not offered: it is, then. */
export const Select = ({ label, value, of, change }: SelectProps) => {
  const isOffered = value === '' || of.some((option) => option === value || option[0] === value);
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={(event) => change(event.currentTarget.value)}>
        <Options of={isOffered ? of : [...of, value]} />
      </select>
    </label>
  );
};

/** What people may say of a thing. */
const STATUSES = ['positive', 'negative', 'untriaged'] as const;
type Status = (typeof STATUSES)[number];

interface TriageProps {
  readonly status: Status;
  /** What was noted last. */
  readonly note?: string;
  /** What the buttons say, where that is not the status. */
  readonly words?: Readonly<Record<Status, string>>;
  readonly say: (status: Status, note: string) => Promise<unknown>;
}

/** A note, and a button for each status. */
export const Triage = ({ status, note: noted = '', words, say }: TriageProps) => {
  const [note, setNote] = useState(noted);
  const [error, setError] = useState<Error>();
  return (
    <>
      <div class="flow">
        <TextField aria-label="note" placeholder="why" maxLength={1000} value={note} set={setNote} />
        {STATUSES.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={status === one}
            onClick={() => say(one, note).then(() => setError(undefined), setError)}
          >
            {words?.[one] ?? one}
          </button>
        ))}
      </div>
      {error !== undefined && <Failure error={error} />}
    </>
  );
};

/** Keys to go along a list of things, of which `at` is looked at; -1 for none. */
export const useMoves = <T,>(what: string, all: readonly T[], at: number, look: (one: T) => void): void => {
  const move = (by: number): void => {
    const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
    if (next !== undefined) look(next);
  };
  useKeys([
    { key: 'j', does: `next ${what}`, act: () => move(1) },
    { key: 'k', does: `previous ${what}`, act: () => move(-1) },
  ]);
};
