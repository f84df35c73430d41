// Loads a package that only one part of the trace databases needs. It must never be called when a module is loaded, only when the part is used.
import { optionalPackage as load } from 'spanline/internal/base';
import { TraceDbError } from './tracedb-error.js';

const missing = (message: string, options: ErrorOptions): TraceDbError =>
  new TraceDbError('ERR_SPANLINE_MISSING_PACKAGE', message, options);

/** The module `importing` gives, or an error that names the package and the command that installs it. */
export const optionalPackage = <T>(name: string, what: string, importing: () => Promise<T>): Promise<T> =>
  load(name, what, importing, missing);
