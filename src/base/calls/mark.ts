// Marks in a file: where a function is called, also where a bundler has put all into one file.
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { attempt } from './attempt.js';

/** A place in a script: line and column from 0, as V8's profiles have them. */
export interface Mark {
  readonly url: string;
  readonly line: number;
  readonly column: number;
}

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
    attempt(() => Object.assign(Error, { prepareStackTrace, stackTraceLimit }));
  }
};
