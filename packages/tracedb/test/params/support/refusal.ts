// What a call throws, as one line of text: its code and message. Must not hide an error that has no code.
import { TraceDbError } from '../../../src/tracedb-error.js';

const line = (error: unknown): string => {
  if (error instanceof TraceDbError) return `${error.code}: ${error.message}`;
  throw error;
};

export const refusal = (call: () => unknown): string => {
  try {
    call();
  } catch (error) {
    return line(error);
  }
  return 'no error';
};

export const rejection = async (call: () => Promise<unknown>): Promise<string> => {
  try {
    await call();
  } catch (error) {
    return line(error);
  }
  return 'no error';
};
