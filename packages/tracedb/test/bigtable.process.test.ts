// The happy path of each store on Bigtable, and what a table promises of writes, conditions and filters. Everything else that both engines
// promise is asked of Bigtable in `FOLDER/bigtable.full.test.ts`.
import { join } from 'node:path';
import { describeBigtable } from '../../../test/support/bigtable-emulator.js';
import { onBigtable } from './support/on-both-engines.js';
import { conditions } from './table/conformance/conditions.js';
import { filters } from './table/conformance/filters.js';
import { writes } from './table/conformance/writes.js';
import { conformance } from './table/conformance.js';

describeBigtable('on the emulator', (emulator) => {
  conformance({ name: 'bigtable', newLocation: () => emulator.location() }, [writes, conditions, filters]);
});

await onBigtable(join(import.meta.dirname, 'perf'), ['perf-format.test.ts']);
await onBigtable(join(import.meta.dirname, 'gold'), ['gold-format.test.ts']);
