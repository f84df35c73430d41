// The subjects of the otel suite on a given Node: what is written for OpenTelemetry's API, on our provider and on the SDK's.
import { ensurePeers } from '../lib/peers.mjs';
import { majorOf, moduleAt, versionOf } from '../lib/subjects.mjs';

const at = moduleAt(import.meta.url);

export async function subjectsFor(node) {
  const version = versionOf(node);
  ensurePeers('.');
  const specs = [{ module: at('spanline.mjs') }, { module: at('otel-2.mjs') }];
  // It needs Node 22.
  if (majorOf(version) >= 24) {
    ensurePeers('otel-3');
    specs.push({ module: at('otel-3.mjs') });
  }
  return { version, specs };
}
