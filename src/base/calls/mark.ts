// Marks in a file, to recognize the code between two of them, also where a bundler has put all into one file.
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A place in a script: line and column from 0, as V8's profiles have them. */
export interface Mark {
  readonly url: string;
  readonly line: number;
  readonly column: number;
}

/** Everything between two marks. */
export interface OwnCode {
  readonly begin: Mark;
  readonly end: Mark;
}

const restore = (prepareStackTrace: typeof Error.prepareStackTrace, stackTraceLimit: number): void => {
  try {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  } catch {
    // Nothing was changed.
  }
};

/** Where this function is called, or so many calls further out. */
export const mark = (calls = 1): Mark | undefined => {
  const { prepareStackTrace, stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = calls + 1;
    // The places as they are, also where source maps are on.
    Error.prepareStackTrace = (_, sites) => sites;
    const site = (new Error().stack as unknown as readonly NodeJS.CallSite[])[calls];
    const name = site.getScriptNameOrSourceURL();
    const url = name !== null && isAbsolute(name) ? pathToFileURL(name).href : (name ?? '');
    return { url, line: (site.getLineNumber() ?? 1) - 1, column: (site.getColumnNumber() ?? 1) - 1 };
  } catch {
    // Somebody has frozen Error.
    return undefined;
  } finally {
    restore(prepareStackTrace, stackTraceLimit);
  }
};

/** The code between two marks; none where V8 gave no place. */
export const codeBetween = (begin: Mark | undefined, end: Mark | undefined): OwnCode[] =>
  begin === undefined || end === undefined || begin.url === '' || begin.url !== end.url ? [] : [{ begin, end }];
