// The subjects of the profile suite. What one lacks here leaves that subject out, with a line that says so.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/lib/run.mjs';
import { ensurePeers } from '../lib/peers.mjs';
import { moduleAt, versionOf } from '../lib/subjects.mjs';
import { environment } from './settings.mjs';

const at = moduleAt(import.meta.url);

/** Whether the peer ships a binary for this machine at all. */
const hasBinary = () =>
  existsSync(join(root, 'bench/peers/node_modules/@datadog/pprof/prebuilds', `${process.platform}-${process.arch}`));

export async function subjectsFor(node, { quick }) {
  const env = environment(quick ? 'quick' : 'full');
  const specs = ['spanline.mjs', 'spanline-trampoline.mjs', 'bare.mjs', 'als.mjs', 'inspector.mjs'].map((name) => ({
    module: at(name),
    env,
  }));
  ensurePeers('.');
  if (hasBinary()) {
    specs.push({ module: at('datadog-pprof.mjs'), env });
    specs.push({ module: at('datadog-pprof.mjs'), env: { ...env, SPANLINE_BENCH_REUSED: '1' } });
  } else console.error(`profile: datadog-pprof is left out, it has no binary for ${process.platform}-${process.arch}`);
  return { version: versionOf(node), specs };
}
