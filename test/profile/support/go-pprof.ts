// Go's own reader of pprof, which knows nothing of this library. Where it is not installed its tests are skipped, but never in CI: there
// a file that Go did not read is a failure.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isCI } from '../../support/is-ci.js';

const environment = { ...process.env, PPROF_NO_BROWSER: '1', HOME: tmpdir(), GOFLAGS: '', PPROF_TMPDIR: tmpdir() };

const isInstalled = spawnSync('go', ['tool', 'pprof', '-h'], { env: environment }).status === 0;
const HOW_TO_GET = 'there is no go tool pprof: apt-get install golang-go, or put its go on PATH';

/** True where Go is to be asked: where it can be, and in CI. */
export const asksGoPprof = isInstalled || isCI;

if (!asksGoPprof) console.warn(`checks of profile files are skipped: ${HOW_TO_GET}`);

/** What `go tool pprof` prints of a profile. */
export const goPprof = (bytes: Uint8Array, args: readonly string[]): string => {
  if (!isInstalled) throw new Error(HOW_TO_GET);
  const file = join(mkdtempSync(join(tmpdir(), 'spanline-pprof-')), 'cpu.pb.gz');
  writeFileSync(file, bytes);
  const { status, stdout, stderr } = spawnSync('go', ['tool', 'pprof', ...args, file], {
    encoding: 'utf8',
    env: environment,
    maxBuffer: 256 << 20,
  });
  if (status !== 0) throw new Error(`go tool pprof ${args.join(' ')}: ${stderr}`);
  return stdout;
};
