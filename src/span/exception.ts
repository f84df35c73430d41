// An exception as event properties, by OpenTelemetry's names. Any value can be thrown, so nothing is assumed of it.
import { guarded } from '../rows/lazy.js';
import type { Properties } from '../rows/property.js';

/** Type, message and stack of a thrown value. A getter or toString that throws leaves its property out. */
export const exceptionProperties = (error: unknown): Properties => {
  if (typeof error !== 'object' || error === null) {
    return { 'exception.type': typeof error, 'exception.message': guarded(() => String(error)) };
  }
  return {
    'exception.type': textOf(error as Error, 'name'),
    'exception.message': textOf(error as Error, 'message'),
    'exception.stacktrace': textOf(error as Error, 'stack'),
  };
};

const textOf = (error: Error, key: 'name' | 'message' | 'stack'): string | undefined => {
  const value: unknown = guarded(() => error[key]);
  return typeof value === 'string' ? value : undefined;
};

/** The message of a thrown value, for a status; undefined when it has none. */
export const errorMessage = (error: unknown): string | undefined =>
  exceptionProperties(error)['exception.message'] as string | undefined;
