// The subjects of the clock suite.
import { moduleAt, versionOf } from '../lib/subjects.mjs';

const at = moduleAt(import.meta.url);
const SOURCES = ['tsc', 'tsc-percpu', 'monotonic', 'js'];

export async function subjectsFor(node) {
  const specs = SOURCES.map((source) => ({ module: at('spanline.mjs'), env: { SPANLINE_CLOCK: source } }));
  specs.push({ module: at('performance-now.mjs') }, { module: at('hrtime.mjs') });
  return { version: versionOf(node), specs };
}
