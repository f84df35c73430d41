// Errors of profiles as ends of a command: wrong usage is 2, a file or target that fails is 3. A bug stays a bug.
import { ProfileOutputError } from '../../profile/output/output-error.js';
import { ProfileError } from '../../profile/profile-error.js';
import { CommandError, ExitCode } from '../exit-code.js';

const toCommandError = (error: unknown): unknown => {
  if (!(error instanceof ProfileOutputError) && !(error instanceof ProfileError)) return error;
  const exitCode = error.code === 'ERR_SPANLINE_PROFILE_OPTION' ? ExitCode.usage : ExitCode.store;
  return new CommandError(error.code, error.message, exitCode, { cause: error });
};

/** Run a command's work; what it throws of profiles ends the command with its exit code. */
export const endingWell = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw toCommandError(error);
  }
};

/** The error of a file or process that the command cannot work with. */
export const targetFailure = (message: string, cause?: unknown): CommandError =>
  new CommandError('ERR_SPANLINE_PROFILE_TARGET', message, ExitCode.store, { cause });
