// What commands print: answers on standard output, as text or JSON, and notes on standard error. A command whose standard output is closed
// early, as by `| head`, ends with the exit code it would have had. Its remaining output is dropped; its findings must not be.
import { once } from 'node:events';
import { SpanlineError } from '../base/errors/spanline-error.js';
import { escapeText } from '../base/text/escape-text.js';

let isClosed = false;

/** Thrown by {@link throwIfOutputClosed} to end a command that prints as it reads. `command-line.ts` takes it for a good end. */
export class OutputClosed extends SpanlineError {
  override readonly name = 'OutputClosed';
}

/** Take a closed pipe for the end of the output, and hand every other failure of standard output to `fail`. */
export const watchOutput = (fail: (error: Error) => never): void => {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') fail(error);
    isClosed = true;
  });
};

/** Ends a command whose output nobody reads. */
const throwIfOutputClosed = (): void => {
  if (isClosed) throw new OutputClosed('OUTPUT_CLOSED', 'standard output was closed');
};

/** Prints a note, which is not part of the answer, to standard error. */
export const note = (text: string): void => {
  process.stderr.write(`spanline: ${escapeText(text)}\n`);
};

/** Prints an answer: one JSON document where the command was asked for `--json`, else the text. */
export const printAnswer = (json: boolean | undefined, answer: unknown, text: string): void => {
  process.stdout.write(json ? `${JSON.stringify(answer, null, 2)}\n` : text);
};

/** Writes to stdout at the speed of its reader; ends the command once the reader is gone. */
export const writeOut = async (text: string): Promise<void> => {
  throwIfOutputClosed();
  // A closed pipe never drains; it emits an error instead.
  if (!process.stdout.write(text)) await once(process.stdout, 'drain').catch(throwIfOutputClosed);
};
