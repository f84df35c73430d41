// Builds versitygw, a server of S3's protocol over a folder, where there is none, with the Go on PATH. All of it is its authors'.
import { ensureProgram } from './go-programs.mjs';
import { BUILT, findVersitygw, VERSION } from './versitygw.mjs';

/** The path of one; undefined where there is neither one nor Go. */
export const ensureVersitygw = () =>
  ensureProgram('versitygw', findVersitygw, {
    module: 'github.com/versity/versitygw',
    version: VERSION,
    checksums: ['h1:au+wI+aybno/STsQiSm35Uu6Q6iK5MWReQxgO6SEMFc=', 'h1:OxcWzwHy0xd9yUjfBneYnqmOwOgyq4QpzpobLsXMQRU='],
    built: BUILT,
    // A copy of the module as it is.
    packages: {},
    target: './cmd/versitygw',
  });
