// Whatever the tests of this folder ask of both engines, asked of Bigtable.
import { onBigtable } from '../support/on-both-engines.js';

await onBigtable(import.meta.dirname);
