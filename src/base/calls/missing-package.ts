// What an import failed with, when a package that a program may or may not have is not installed. It must never hide another failure.

const NOT_FOUND: readonly unknown[] = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'];

/**
 * The error that `toError` makes of a message with the command that installs the package; `cause` itself where its message is another.
 * The import belongs into a `try` beside its call: there bundlers pass over a package that they do not find.
 */
export const missingPackage = (
  cause: unknown,
  name: string,
  what: string,
  toError: (message: string, options: ErrorOptions) => Error,
): unknown =>
  NOT_FOUND.includes((cause as NodeJS.ErrnoException | null)?.code)
    ? toError(`${what} needs the package ${name}: npm install ${name}`, { cause })
    : cause;
