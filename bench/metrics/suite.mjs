// The subjects of the metrics suite on a given Node.
import { join } from 'node:path';
import { root } from '../../scripts/lib/run.mjs';
import { bundleFor } from '../lib/bundle.mjs';
import { ensurePeers } from '../lib/peers.mjs';
import { moduleAt, versionOf } from '../lib/subjects.mjs';

const at = moduleAt(import.meta.url);

export async function subjectsFor(node) {
  ensurePeers('.');
  await bundleFor(join(root, 'bench/metrics/internals.ts'), 'metrics.js');
  return { version: versionOf(node), specs: [{ module: at('spanline.mjs') }, { module: at('otel.mjs') }] };
}
