// What a call ended with, so that tests can look at errors as values.
import { GraphError } from '../../../src/container/graph-error.js';

/** The `GraphError` that `promise` rejects with; anything else fails the test. */
export const failureOf = async (promise: Promise<unknown>): Promise<GraphError> => {
  try {
    await promise;
  } catch (error) {
    if (error instanceof GraphError) return error;
    throw new Error('not a GraphError', { cause: error });
  }
  throw new Error('it did not fail');
};

/** The same for a call that answers at once. */
export const thrownBy = (call: () => unknown): GraphError => {
  try {
    call();
  } catch (error) {
    if (error instanceof GraphError) return error;
    throw new Error('not a GraphError', { cause: error });
  }
  throw new Error('it did not fail');
};
