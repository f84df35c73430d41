// The subjects of the metrics suite on a given Node.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../../scripts/lib/run.mjs';
import { ensurePeers } from '../lib/peers.mjs';
import { moduleAt, versionOf } from '../lib/subjects.mjs';

const at = moduleAt(import.meta.url);

async function bundleInternals() {
  const { build } = await import('esbuild');
  await build({
    entryPoints: { metrics: fileURLToPath(at('internals.ts')) },
    outdir: join(root, 'dist/bench'),
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    logLevel: 'warning',
  });
}

export async function subjectsFor(node) {
  ensurePeers('.');
  await bundleInternals();
  return { version: versionOf(node), specs: [{ module: at('spanline.mjs') }, { module: at('otel.mjs') }] };
}
