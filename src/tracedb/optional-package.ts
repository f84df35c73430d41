// Loads a package that only one part needs. It must never be called when a module is loaded, only when the part is used.
import { TraceDbError } from './tracedb-error.js';

/** The module `load` imports, or an error that names the package and the command that installs it. */
export const optionalPackage = async <T>(name: string, what: string, load: () => Promise<T>): Promise<T> => {
  try {
    return await load();
  } catch (cause) {
    if (
      (cause as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND' &&
      (cause as { code?: string }).code !== 'MODULE_NOT_FOUND'
    ) {
      throw cause;
    }
    throw new TraceDbError('ERR_SPANLINE_MISSING_PACKAGE', `${what} needs the package ${name}: npm install ${name}`, {
      cause,
    });
  }
};
