// What commands print: answers on standard output, as text or JSON, and notes on standard error. A command whose standard output is closed
// early, as by `| head`, ends with the exit code it would have had. Its remaining output is dropped; its findings must not be.
import { once } from 'node:events';
import { fstatSync } from 'node:fs';
import { escapeText, runSync, SpanlineError, writeAll } from 'spanline/internal/base';
import { ExitCode, endWith } from './exit-code.js';

let isClosed = false;

/** Thrown by {@link throwIfOutputClosed} to end a command that prints as it reads. `command-line.ts` takes it for a good end. */
export class OutputClosed extends SpanlineError {
  override readonly name = 'OutputClosed';
}

/** Write each chunk to its last byte: Node's stream of a file writes once, and takes what a full disk or a quota cut off for written. */
const writeToTheEnd = (stream: NodeJS.WriteStream & { readonly fd: number }): void => {
  // As BigInts: Node 20 resolves no symbolic link of a package any more once it has seen numbers of a pipe.
  if (!fstatSync(stream.fd, { bigint: true }).isFile()) return;
  stream._write = (chunk: Buffer, _encoding, done) => {
    try {
      runSync(writeAll(stream.fd, chunk));
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  };
};

/**
 * Take a closed pipe for the end of the output, and hand every other failure of standard output to `fail`. Where notes cannot be written there is no
 * place to say it: the exit code does.
 */
export const watchOutput = (fail: (error: Error) => never): void => {
  writeToTheEnd(process.stdout);
  writeToTheEnd(process.stderr);
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') endWith(ExitCode.store);
  });
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
