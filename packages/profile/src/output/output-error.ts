// The error of profile files and of the ways out: a file that cannot be read, a server that refuses.
import { SpanlineError } from 'spanline/internal/base';

/** The stable codes of errors of profile files and sinks. */
export type ProfileOutputErrorCode =
  /** An option that is wrong as written. */
  | 'ERR_SPANLINE_PROFILE_OPTION'
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
