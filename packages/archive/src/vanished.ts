// What tells that a file of a listing is no longer there: it was merged or deleted meanwhile, and the listing must be made again.
// Never seen outside the archive.
import { SpanlineError } from 'spanline/internal/base';

/** A file vanished between listing and opening it. */
export class VanishedError extends SpanlineError {
  constructor(readonly file: string) {
    super('VANISHED', `${file} is not there any more`);
  }
}

/** Whether an error, or what caused it, is that there is no such file. */
export const isGone = (error: unknown): boolean => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return true;
  }
  return false;
};
