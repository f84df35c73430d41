// What one does with a trace as a whole: search in it, copy it, save it, compare it.
import type { RefObject } from 'preact';
import { useState } from 'preact/hooks';
import { hrefOf } from '../../../shell/location.js';
import { copyTrace, FORMATS, type Format, saveTrace } from './take-along.js';
import type { Found } from './use-found.js';

interface Props {
  readonly traceId: string;
  readonly snapshot: string | undefined;
  readonly field: RefObject<HTMLInputElement | null>;
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly found: Found;
  readonly next: (by: 1 | -1) => void;
}

const foundWords = ({ places, isLoading, error }: Found): string =>
  error === undefined ? `${places.size} found${isLoading ? ', searching …' : ''}` : error.message;

export const Actions = ({ traceId, snapshot, field, text, setText, found, next }: Props) => {
  const [done, setDone] = useState('');
  const which = { id: traceId, snapshot };
  const doing = (what: Promise<void>, words: string): void => {
    setDone('');
    what.then(
      () => setDone(words),
      (error: Error) => setDone(error.message),
    );
  };
  return (
    <p class="actions">
      <input
        ref={field}
        type="search"
        placeholder="search in spans"
        aria-label="search in names, properties, events and messages"
        // The server takes no longer ones.
        maxLength={500}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && next(event.shiftKey ? -1 : 1)}
      />
      {text !== '' && <span role="status">{foundWords(found)}</span>}
      <button type="button" onClick={() => doing(copyTrace(which), 'copied')}>
        Copy as JSON
      </button>
      {Object.entries(FORMATS).map(([format, { words }]) => (
        <button key={format} type="button" onClick={() => doing(saveTrace(which, format as Format), 'saved')}>
          Save {words}
        </button>
      ))}
      <a href={hrefOf('traces', { snapshot, a: `trace:${traceId}` })}>Compare with another</a>
      <span role="status">{done}</span>
    </p>
  );
};
