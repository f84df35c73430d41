// What becomes of a command whose standard output was closed early, as by `| head`: it ends with the exit code that it would have had. What
// it has still to print is dropped; whether it found something must not be.
import { SpanlineError } from '../base/errors/spanline-error.js';

let isClosed = false;

/** Thrown by {@link throwIfOutputClosed} to end a command that prints as it reads. `main.ts` takes it for a good end. */
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

/** Ends a command that would read on for nobody. */
export const throwIfOutputClosed = (): void => {
  if (isClosed) throw new OutputClosed('OUTPUT_CLOSED', 'standard output was closed');
};
