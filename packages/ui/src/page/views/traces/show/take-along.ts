// A trace taken along: into the clipboard, or as a file.
import { getBytes } from '../../../api/client.js';

/** Formats of files: words for the button, and what the name ends in. */
export const FORMATS = {
  jaeger: { words: 'for Jaeger UI', ending: 'jaeger.json' },
  perfetto: { words: 'for Perfetto', ending: 'perfetto-trace' },
  otlp: { words: 'as OTLP', ending: 'otlp.json' },
} as const;
export type Format = keyof typeof FORMATS;

/** Milliseconds after which the browser has taken the file. */
const TAKEN_MS = 10_000;

interface Which {
  readonly id: string;
  readonly snapshot: string | undefined;
}

/** Have the browser save the trace. */
export const saveTrace = async ({ id, snapshot }: Which, format: Format): Promise<void> => {
  const bytes = await getBytes('trace/file', { snapshot, id, format });
  const url = URL.createObjectURL(new Blob([bytes]));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${id}.${FORMATS[format].ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), TAKEN_MS);
};

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
export const copyTrace = async ({ id, snapshot }: Which): Promise<void> => {
  const text = new TextDecoder().decode(await getBytes('trace/file', { snapshot, id, format: 'otlp' }));
  if (navigator.clipboard === undefined) copySelected(text);
  else await navigator.clipboard.writeText(text);
};
