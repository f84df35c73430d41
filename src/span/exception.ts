// An exception as event properties, by OpenTelemetry's names. Any value can be thrown, so nothing is assumed of it.
import { guarded } from '../local-span/lazy.js';
import type { Properties } from '../local-span/property.js';

/** Type, message and stack of a thrown value. A getter or toString that throws leaves its property out. */
export const exceptionProperties = (error: unknown): Properties => {
  if (typeof error !== 'object' || error === null) {
    return { 'exception.type': typeof error, 'exception.message': guarded(() => String(error)) };
  }
  const { name, message, stack } = guarded(() => pick(error as Error)) ?? {};
  return { 'exception.type': text(name), 'exception.message': text(message), 'exception.stacktrace': text(stack) };
};

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const pick = ({ name, message, stack }: Error): { name: unknown; message: unknown; stack: unknown } => ({
  name,
  message,
  stack,
});

/** The message of a thrown value, for a status; undefined when it has none. */
export const errorMessage = (error: unknown): string | undefined =>
  exceptionProperties(error)['exception.message'] as string | undefined;
