// The errors of profiles: every failure that a caller of a profile can meet, and those of profile files and of exporters, such as a file that cannot
// be read or a server that refuses. Never thrown by a label: what a label cannot do is counted.
import { SpanlineError } from 'spanline/internal/base';

/** The stable codes of errors of CPU profiles. */
export type ProfileErrorCode =
  /** An option that is wrong as written. */
  | 'ERR_SPANLINE_PROFILE_OPTION'
  /** This thread is being profiled by this library already. */
  | 'ERR_SPANLINE_PROFILE_BUSY'
  /** Somebody else handles SIGPROF: V8's profiler would take the signal from it. */
  | 'ERR_SPANLINE_PROFILE_FOREIGN_HANDLER'
  /** The carrier asked for does not label enough on this Node, or its addon cannot be loaded. */
  | 'ERR_SPANLINE_PROFILE_CARRIER'
  /** This Node was built without the inspector, or the inspector refused. */
  | 'ERR_SPANLINE_PROFILE_INSPECTOR'
  /** The caller's AbortSignal had fired before the profile began. */
  | 'ERR_SPANLINE_PROFILE_ABORTED';

/**
 * What the profiler throws: `code` is stable, `message` names the input and the remedy, `cause` is what lies below.
 *
 * @example
 * ```ts
 * import { ProfileError } from '@spanline/profile';
 * const error = new ProfileError('ERR_SPANLINE_PROFILE_BUSY', 'this thread is being profiled; stop that profile first');
 * console.assert(error.code === 'ERR_SPANLINE_PROFILE_BUSY');
 * ```
 */
export class ProfileError extends SpanlineError<ProfileErrorCode> {
  override readonly name = 'ProfileError';
}

/** The error of a wrong option. */
export const wrongOption = (message: string): ProfileError => new ProfileError('ERR_SPANLINE_PROFILE_OPTION', message);

/** The stable codes of errors of profile files and sinks. */
export type ProfileOutputErrorCode =
  /** An option that is wrong as written. */
  | 'ERR_SPANLINE_PROFILE_OPTION'
  /** The file is not a profile, is damaged, or is larger than what is read. */
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

/** The error of an option that a profile, its file or a sink does not take. */
export const wrongOutputOption = (message: string): ProfileOutputError =>
  new ProfileOutputError('ERR_SPANLINE_PROFILE_OPTION', message);
