// Turns an error of the file system into one that names the path and says what to do.
import { ReportError } from '../../collector/reporter.js';

const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: 'free space on the disk, or set maxBytes',
  EDQUOT: 'free space within the quota, or set maxBytes',
  EACCES: 'give this process the right to write there, or choose another path',
  EPERM: 'give this process the right to write there, or choose another path',
  EROFS: 'choose a path on a file system that can be written',
  EISDIR: 'path must name a file, not a directory',
  ENOTDIR: 'a part of the path is not a directory',
  EMFILE: 'the process has too many files open',
  ENFILE: 'the system has too many files open',
};

/** No waiting makes these go away. */
const FINAL = new Set(['EISDIR', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

export const notAFile = (path: string): ReportError =>
  new ReportError('ERR_SPANLINE_FILE', `${path} is not a regular file; choose another path.`, { retryable: false });

export const toFileError = (path: string, error: unknown): unknown => {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof ReportError || code === undefined) return error;
  const remedy = REMEDIES[code];
  return new ReportError(
    'ERR_SPANLINE_FILE',
    `${path} could not be written: ${message}${remedy ? `; ${remedy}.` : '.'}`,
    {
      retryable: !FINAL.has(code),
      cause: error,
    },
  );
};
