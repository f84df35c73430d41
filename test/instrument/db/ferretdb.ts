// The FerretDB that tests talk to, or a line that says why they are skipped.
import { type Ferretdb, findFerretdb, HOW_TO_GET, startFerretdb as start } from '../../../scripts/lib/ferretdb.mjs';
import { provided } from '../../support/built-with-go.js';

export type { Ferretdb } from '../../../scripts/lib/ferretdb.mjs';

const { program, reason } = await provided({
  name: 'FerretDB',
  script: 'build-ferretdb.mjs',
  howToGet: HOW_TO_GET,
  find: findFerretdb,
});

/** Whether there is one here. */
export const hasFerretdb = program !== undefined;
if (!hasFerretdb) console.info(`skipped: ${reason}`);

export const startFerretdb = (): Promise<Ferretdb> => start(program as string);
