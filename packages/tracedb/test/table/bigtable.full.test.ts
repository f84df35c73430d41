// The Bigtable engine gives the answers that the conformance suite and the other tests of this folder ask of both engines.
import { describeBigtable } from '../../../../test/support/bigtable-emulator.js';
import { onBigtable } from '../support/on-both-engines.js';
import { conformance } from './conformance.js';

describeBigtable('on the emulator', (emulator) => {
  conformance({ name: 'bigtable', newLocation: () => emulator.location() });
});

await onBigtable(import.meta.dirname);
