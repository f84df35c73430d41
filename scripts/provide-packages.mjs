// What CI installs from npm beside the root: libraries that tests trace, other lines of Node, peers of the gate, what looks at the packages. Each is
// installed by whoever needs it first, too; here it is done while little else runs. What cannot be installed is said by who needs it.
import { join } from 'node:path';
import { ensurePeers } from '../bench/lib/peers.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { nodePackage } from './lib/nodes.mjs';
import { root } from './lib/run.mjs';

const at = (path) => join(root, path);

/** Other lines are tested on linux-x64 alone. */
const otherNodes = `${process.platform}-${process.arch}` === 'linux-x64' ? [[24], [22], [26], [24, 'arm64']] : [];

/** The first is what the first tests ask for. */
const steps = [
  () => ensureInstalled(at('test/instrument/libraries'), 'libraries that tests trace', [], true),
  ...otherNodes.map((node) => () => nodePackage(...node)),
  () => ensureInstalled(at('test/otel/sdk-3'), 'SDK 3 of OpenTelemetry'),
  () => ensureInstalled(at('scripts/check-package'), 'what looks at the packages'),
  () => ensurePeers('.'),
];

for (const step of steps) {
  try {
    step();
  } catch (error) {
    console.error(error.message);
  }
}
