// The error of a process that another one starts, asks or looks into. Packages that ask no process load it too: it must bring no client.
import { SpanlineError } from './errors.js';

export type TargetErrorCode = 'ERR_SPANLINE_PROFILE_TARGET' | 'ERR_SPANLINE_INSPECTOR_SILENT';

/** A process or a file that cannot be worked with, or a process that opened no inspector. */
export class TargetError extends SpanlineError<TargetErrorCode> {
  override readonly name = 'TargetError';
}

/** The error of a process or a file that cannot be worked with. */
export const targetFailure = (message: string, cause?: unknown): TargetError =>
  new TargetError('ERR_SPANLINE_PROFILE_TARGET', message, { cause });
