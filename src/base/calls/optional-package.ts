// Loads a package that only one part needs. It must never be called when a module is loaded, only when the part is used.

const NOT_FOUND: readonly unknown[] = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'];

/** The module that `load` imports, or the error that `toError` makes of a message with the command that installs the package. */
export const optionalPackage = async <T>(
  name: string,
  what: string,
  load: () => Promise<T>,
  toError: (message: string, options: ErrorOptions) => Error,
): Promise<T> => {
  try {
    return await load();
  } catch (cause) {
    if (!NOT_FOUND.includes((cause as NodeJS.ErrnoException | null)?.code)) throw cause;
    throw toError(`${what} needs the package ${name}: npm install ${name}`, { cause });
  }
};
