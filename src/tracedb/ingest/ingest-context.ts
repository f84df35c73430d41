// What every format's parser is told about the file it parses. Parsers must take nothing from anywhere else: the same file with
// the same context gives the same commits.
import type { SeriesCleaner } from './series-cleaner.js';

/** The file as its parser sees it. */
export interface IngestContext {
  /** Name of the file, for errors and sources. */
  readonly name: string;
  readonly cleaner: SeriesCleaner;
  /** Id of the measured commit, for formats that do not say it; another one in the file is an error. */
  readonly commit?: string;
  /** When the commit was made, in milliseconds since 1970, for formats that do not say it. */
  readonly commitMs?: number;
  /** When it was measured, in milliseconds since 1970, for formats that do not say it: as given, else when the file was written. */
  measuredMs(): number;
}
