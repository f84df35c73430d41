// Which errors mean that bytes of a file are damaged, so that other bytes may still be good. Everything else concerns the whole file,
// or the one who asks.
import {
  CorruptError,
  type GraphError,
  LimitError,
  TruncatedError,
  UnsupportedVersionError,
} from '../../../container/graph-error.js';

/** Whether an error is of one place in a file. */
export const isDamage = (error: unknown): error is GraphError =>
  error instanceof CorruptError ||
  error instanceof LimitError ||
  error instanceof UnsupportedVersionError ||
  error instanceof TruncatedError;

/** What `action` gives, or the damage it met. */
export const guarded = <T>(action: () => T): T | GraphError => {
  try {
    return action();
  } catch (error) {
    if (isDamage(error)) return error;
    throw error;
  }
};
