// A command whose standard output is closed early, as by `| head`, ends with the exit code it would have had. Its remaining output is
// dropped; its findings must not be.
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

/** Ends a command whose output nobody reads. */
export const throwIfOutputClosed = (): void => {
  if (isClosed) throw new OutputClosed('OUTPUT_CLOSED', 'standard output was closed');
};
