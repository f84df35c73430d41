// Builds FerretDB where there is none, with the Go on PATH: its library with a `main` of ours, since its own program needs files that its module
// lacks.
import { fileURLToPath } from 'node:url';
import { BUILT, findFerretdb, VERSION } from './ferretdb.mjs';
import { ensureProgram } from './go-programs.mjs';

/** The path of a FerretDB; undefined where there is neither one nor Go. */
export const ensureFerretdb = () =>
  ensureProgram('FerretDB', findFerretdb, {
    module: 'github.com/FerretDB/FerretDB',
    version: VERSION,
    checksums: ['h1:7WJmezL48Bj9bYWnhT/bEJgX5gjT5s7LFdHTqkN25rA=', 'h1:E7e8dVcgsQim1k9jQ5LmP0HDQ3beZ1s1UnE3BsyerLw='],
    built: BUILT,
    main: fileURLToPath(new URL('./ferretdb/main.go', import.meta.url)),
    target: '.',
  });
