// Which archive a request is about. Types only.
import type { Archive } from '@spanline/archive';
import type { Call } from '@spanline/archive/internal';

/** The archive that the parameters of a request name, open as long as it is answered. `HttpError` 404 where there is none. */
export type ArchiveOf = (call: Call) => Promise<Archive>;
