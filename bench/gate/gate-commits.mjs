// The gate of CI for recording and for the service that sends or archives: HEAD against an earlier commit by `spanline bench gate`, in work trees, by turns. It must
// never pass for measured where it was skipped.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../scripts/lib/run.mjs';
import { baseCommit } from './base-commit.mjs';

/**
 * A loss below the minimum effect may be how two builds lie in memory. The rounds suffice for a loss of 10 % on a machine of two cores whose figures spread by as
 * much from process to process: half as many were too few. What chance alone calls worse has to pass the minimum effect too, so that it is rarer than alpha says.
 */
const RULES = ['--min-effect', '7%', '--alpha', '5%', '--budget', '150s', '--max-rounds', '48'];

/** Whether HEAD is no slower. */
export function gateCommits() {
  const base = baseCommit({ root });
  if (base === undefined) {
    console.log('skip bench gate: this clone has no earlier commit to compare with (a shallow one?)');
    return true;
  }
  const args = ['bench', 'gate', '--base', base, ...RULES, '--same', 'bench', '--install', 'true'];
  const program = ['node', 'bench/gate/program.mjs'];
  const { status } = spawnSync(
    process.execPath,
    [join(root, 'packages/cli/dist/esm/main.js'), ...args, '--build', 'node bench/gate/prepare.mjs', '--', ...program],
    { cwd: root, env: { ...process.env, SPANLINE_GATE_CHECKOUT: root }, stdio: 'inherit' },
  );
  console.log(
    `${status === 0 ? 'ok  ' : 'FAIL'} bench gate: recording, sending and archiving against ${base.slice(0, 10)}`,
  );
  return status === 0;
}

if (process.argv[1] === import.meta.filename && !gateCommits()) process.exitCode = 1;
