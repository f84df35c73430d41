// The base of all errors, and the one way to say that a caller aborted.
import { expect, test } from 'vitest';
import { SpanlineError, throwIfAborted } from '../../../src/base/errors.js';

test('an error has a code, a message and a cause', () => {
  const cause = new Error('below');
  const error = new SpanlineError('ERR_SPANLINE_TEST', 'it failed; try again', { cause });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: 'SpanlineError', code: 'ERR_SPANLINE_TEST', cause });
  expect(String(error)).toBe('SpanlineError: it failed; try again');
  expect(new SpanlineError('ERR_SPANLINE_TEST', 'no cause')).not.toHaveProperty('cause');
});

test('a signal that fired ends the work with its reason', () => {
  const toError = (message: string, options: ErrorOptions) => new SpanlineError('ERR_SPANLINE_TEST', message, options);
  const controller = new AbortController();
  throwIfAborted(undefined, 'reading', toError);
  throwIfAborted(controller.signal, 'reading', toError);
  controller.abort('enough');
  expect(() => throwIfAborted(controller.signal, 'reading', toError)).toThrow(
    expect.objectContaining({ message: 'reading was aborted', cause: 'enough' }),
  );
});
