// The subjects of the recording suite on a given Node.
import { ensurePeers } from '../lib/peers.mjs';
import { majorOf, moduleAt, versionOf } from '../lib/subjects.mjs';

const at = moduleAt(import.meta.url);

/** dd-trace must not look for an agent, report about itself, or ask for its configuration. */
const DD_QUIET = {
  DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false',
  DD_REMOTE_CONFIGURATION_ENABLED: 'false',
  DD_TRACE_STARTUP_LOGS: 'false',
  DD_CRASHTRACKING_ENABLED: 'false',
};

export async function subjectsFor(node) {
  const version = versionOf(node);
  ensurePeers('.');
  const specs = [
    { module: at('spanline.mjs') },
    { module: at('otel-2.mjs') },
    { module: at('spanline-disabled.mjs'), env: { SPANLINE_DISABLED: '1' } },
    { module: at('spanline-retained.mjs'), flags: ['--expose-gc'] },
    { module: at('otel-retained.mjs'), flags: ['--expose-gc'] },
  ];
  // Both need Node 22.
  if (majorOf(version) >= 24) {
    ensurePeers('otel-3');
    ensurePeers('dd-trace');
    specs.push({ module: at('otel-3.mjs') }, { module: at('dd-trace.mjs'), env: DD_QUIET });
  }
  return { version, specs };
}
