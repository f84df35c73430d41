// What one does with a trace as a whole: search in it, take it along into the clipboard or as a file, compare it.

import type { RefObject } from 'preact';
import { useState } from 'preact/hooks';
import { getBytes, saveBytes } from '../../../api/client.js';
import { hrefOf } from '../../../shell/location.js';
import type { Found } from './use-found.js';

/** Formats of files: words for the button, and what the name ends in. */
export const FORMATS = {
  jaeger: { words: 'for Jaeger UI', ending: 'jaeger.json' },
  perfetto: { words: 'for Perfetto', ending: 'perfetto-trace' },
  otlp: { words: 'as OTLP', ending: 'otlp.json' },
} as const;
export type Format = keyof typeof FORMATS;

interface Which {
  readonly id: string;
  readonly snapshot: string | undefined;
}

/** Have the browser save the trace. */
const saveTrace = async ({ id, snapshot }: Which, format: Format): Promise<void> =>
  saveBytes(await getBytes('trace/file', { snapshot, id, format }), `${id}.${FORMATS[format].ending}`);

/** As browsers did before pages had a clipboard: what an editor has selected is copied. */
const copySelected = (text: string): void => {
  const editor = document.createElement('textarea');
  editor.value = text;
  editor.className = 'visually-hidden';
  document.body.append(editor);
  editor.select();
  const isCopied = document.execCommand('copy');
  editor.remove();
  if (!isCopied) throw new Error('the browser does not let the page copy: save the trace instead');
};

/** The trace as OTLP/JSON in the clipboard. A page over plain HTTP of another machine has none of its own. */
const copyTrace = async ({ id, snapshot }: Which): Promise<void> => {
  const text = new TextDecoder().decode(await getBytes('trace/file', { snapshot, id, format: 'otlp' }));
  if (navigator.clipboard === undefined) copySelected(text);
  else await navigator.clipboard.writeText(text);
};

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
