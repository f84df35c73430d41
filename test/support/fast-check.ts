// fast-check with one seed for all runs of `npm test` and `npm run test:full`, and a new one for each of `npm run test:nightly`. What fails
// is shrunk and printed with its seed and path; `SPANLINE_SEED=N` tries that seed again.
import fc from 'fast-check';
import { suite } from './samples.js';

const FIXED = 20_261_125;

const { SPANLINE_SEED } = process.env;
const seed = SPANLINE_SEED !== undefined ? Number(SPANLINE_SEED) : suite === 'nightly' ? Date.now() | 0 : FIXED;
if (!Number.isInteger(seed)) throw new Error(`SPANLINE_SEED is ${SPANLINE_SEED}; it must be an integer`);

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

export default fc;
