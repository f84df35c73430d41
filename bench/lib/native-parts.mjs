// What the native parts do under one Node. A benchmark without them measures other code, a clock by Node-API and plain AsyncLocalStorage, under the
// same name: it must stop and say so, or, where that is asked for, carry it in its result.
import { spawnSync } from 'node:child_process';
import { root } from '../../scripts/lib/run.mjs';

/** Versions from here on have context frames, which the addon can exchange. */
const FRAMES_SINCE = 24;

const PROGRAM = `
import { clockInfo, stats } from ${JSON.stringify(new URL('../../dist/esm/index.js', import.meta.url).href)};
const { source, path, reasons } = clockInfo();
// Commits of before have no such figure.
const { way, reason = '' } = stats().context ?? { way: 'unknown' };
console.log(JSON.stringify({ version: process.versions.node, clock: { source, path, reasons }, context: { way, reason } }));
`;

/**
 * Which clock and which context spanline has under the Node at this path.
 * @returns {{ version: string, clock: { source: string, path: string, reasons: string[] }, context: { way: string, reason: string } }}
 */
export function nativePartsOf(node) {
  const { status, stdout, stderr } = spawnSync(node, ['--input-type=module', '-e', PROGRAM], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${node} cannot load dist/esm/index.js; run npm run build first\n${stderr}`);
  return JSON.parse(stdout);
}

/** Why these are not the parts that a benchmark is to measure; undefined when they are. */
export function lackOf({ version, clock, context }) {
  const lacks = [];
  if (clock.path !== 'fast')
    lacks.push(`its clock is ${clock.source} by ${clock.path} (${clock.reasons.join('; ') || 'no reason given'})`);
  if (Number.parseInt(version, 10) >= FRAMES_SINCE && context.way === 'als')
    lacks.push(`its context is AsyncLocalStorage (${context.reason})`);
  if (lacks.length === 0) return undefined;
  return `the native parts for Node ${version} are not in use: ${lacks.join(', and ')}`;
}
