// What one does with a trace as a whole: search in it, names at once, here, and properties, events and messages by the server, which has them; take
// it along into the clipboard or as a file; compare it.

import type { RefObject } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { FindAnswer, TraceAnswer } from '../../../../api/trace/answers.js';
import { get, getBytes, saveBytes, useRequest, useSettled } from '../../../api/client.js';
import { hrefOf } from '../../../shell/location.js';

const TYPING_MS = 250;

const namesLike = ({ names, spans }: TraceAnswer, text: string): number[] => {
  const wanted = text.toLowerCase();
  const fit = names.map((name) => name.toLowerCase().includes(wanted));
  return spans.name.flatMap((name, place) => (fit[name] ? [place] : []));
};

/** Places of spans, and whether the server still looks. */
interface Found {
  readonly places: ReadonlySet<number>;
  readonly isLoading: boolean;
  readonly error?: Error;
}

const NOTHING: ReadonlySet<number> = new Set();

/** The spans of a trace that have a text. */
export const useFound = (trace: TraceAnswer, text: string, snapshot: string | undefined): Found => {
  const settled = useSettled(text, TYPING_MS);
  const { traceId } = trace;
  const answer = useRequest(settled === '' ? undefined : settled, async (signal) => {
    const { places } = await get<FindAnswer>('trace/find', { snapshot, id: traceId, text: settled }, signal);
    return { of: settled, places };
  });
  const isCurrent = answer.value?.of === text;
  const places = useMemo(() => {
    if (text === '') return NOTHING;
    const found = namesLike(trace, text);
    // In the order of the rows, so that one goes from each to the next.
    return new Set([...found, ...(isCurrent ? (answer.value?.places ?? []) : [])].sort((a, b) => a - b));
  }, [trace, text, answer.value, isCurrent]);
  return { places, isLoading: text !== '' && !isCurrent && answer.error === undefined, error: answer.error };
};

/** Formats of files: words for the button, and what the name ends in. */
const FORMATS = {
  jaeger: { words: 'for Jaeger UI', ending: 'jaeger.json' },
  perfetto: { words: 'for Perfetto', ending: 'perfetto-trace' },
  otlp: { words: 'as OTLP', ending: 'otlp.json' },
} as const;
type Format = keyof typeof FORMATS;

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
    <p class="flow">
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
