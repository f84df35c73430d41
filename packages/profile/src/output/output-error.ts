// The error of profile files and of the ways out: a package that is missing, a file that cannot be read, a server that refuses.
import { SpanlineError } from 'spanline/internal/base';

/** The stable codes of errors of profile files and sinks. */
export type ProfileOutputErrorCode =
  /** An option that is wrong as written. */
  | 'ERR_SPANLINE_PROFILE_OPTION'
  /** A format needs a package that is not installed. */
  | 'ERR_SPANLINE_MISSING_PACKAGE'
  /** The file is no profile, is damaged, or is larger than what is read. */
  | 'ERR_SPANLINE_PROFILE_FILE'
  /** A server did not take a profile. */
  | 'ERR_SPANLINE_PROFILE_PUSH';

/**
 * What writers, readers and sinks of profiles throw: `code` is stable, `message` names the input and the remedy.
 *
 * @example
 * ```ts
 * import { ProfileOutputError, readProfile } from '@spanline/profile';
 * const error = await readProfile(Buffer.from('no profile')).catch((caught: unknown) => caught);
 * console.assert(error instanceof ProfileOutputError && error.code === 'ERR_SPANLINE_PROFILE_FILE');
 * ```
 */
export class ProfileOutputError extends SpanlineError<ProfileOutputErrorCode> {
  override readonly name = 'ProfileOutputError';
}

/** A format needs a missing package. */
export const missingPackage = (message: string, options: ErrorOptions): ProfileOutputError =>
  new ProfileOutputError('ERR_SPANLINE_MISSING_PACKAGE', message, options);
