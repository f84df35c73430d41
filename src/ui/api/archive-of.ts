// Which archive a request is about. Types only.
import type { Archive } from '../../archive/index.js';
import type { Call } from '../../archive/internal.js';

/** The archive that the parameters of a request name, open as long as it is answered. `HttpError` 404 where there is none. */
export type ArchiveOf = (call: Call) => Promise<Archive>;
