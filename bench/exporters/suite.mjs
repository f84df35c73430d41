// The subjects of the exporters suite.
import { join } from 'node:path';
import { findJaeger, HOW_TO_GET } from '../../scripts/lib/jaeger.mjs';
import { root } from '../../scripts/lib/run.mjs';
import { bundleFor } from '../lib/bundle.mjs';
import { ensurePeers } from '../lib/peers.mjs';
import { moduleAt, versionOf } from '../lib/subjects.mjs';

const at = moduleAt(import.meta.url);

export async function subjectsFor(node) {
  ensurePeers('.');
  await bundleFor(join(root, 'bench/exporters/encoders.ts'), 'encoders.js');
  const modules = ['spanline.mjs', 'otel-otlp.mjs', 'otel-jaeger.mjs'];
  if (findJaeger() === undefined) console.error(`skipped: what an acknowledgement of Jaeger costs: ${HOW_TO_GET}`);
  else modules.push('jaeger.mjs');
  return { version: versionOf(node), specs: modules.map((name) => ({ module: at(name) })) };
}
