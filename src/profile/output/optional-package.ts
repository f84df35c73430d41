// Loads a package that only one format needs. It must never be called when a module is loaded, only when the format is used.
import { ProfileOutputError } from './output-error.js';

const NOT_FOUND: readonly unknown[] = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'];

/** The module that `load` imports, or an error that names the package and the command that installs it. */
export const optionalPackage = async <T>(name: string, what: string, load: () => Promise<T>): Promise<T> => {
  try {
    return await load();
  } catch (cause) {
    if (!NOT_FOUND.includes((cause as NodeJS.ErrnoException).code)) throw cause;
    throw new ProfileOutputError(
      'ERR_SPANLINE_MISSING_PACKAGE',
      `${what} needs the package ${name}: npm install ${name}`,
      { cause },
    );
  }
};
