// Installs a folder of peers on first use, so that the package itself stays quick to install.
import { join } from 'node:path';
import { ensureInstalled } from '../../scripts/lib/install.mjs';
import { root } from '../../scripts/lib/run.mjs';

/** @param {'.' | 'otel-3' | 'dd-trace' | 'server'} folder */
export function ensurePeers(folder) {
  ensureInstalled(join(root, 'bench/peers', folder), `benchmark peers (${folder})`, ['--omit=optional']);
}
