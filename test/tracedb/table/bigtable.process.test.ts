// The Bigtable engine gives the answers that the conformance suite promises.
import { describeBigtable } from '../../support/bigtable-emulator.js';
import { conformance } from './conformance.js';

describeBigtable('on the emulator', (emulator) => {
  conformance({ name: 'bigtable', newLocation: () => emulator.location() });
});
