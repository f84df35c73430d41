// Go's own reader of pprof, which knows nothing of this library. Where it is not installed its tests are skipped, but never in CI: there
// a file that Go did not read is a failure.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isCI } from '../../../../test/support/is-ci.js';

const environment = { ...process.env, PPROF_NO_BROWSER: '1', HOME: tmpdir(), GOFLAGS: '', PPROF_TMPDIR: tmpdir() };

const isInstalled = spawnSync('go', ['tool', 'pprof', '-h'], { env: environment }).status === 0;
const HOW_TO_GET = 'there is no go tool pprof: apt-get install golang-go, or put its go on PATH';

/** True where Go is to be asked: where it can be, and in CI. */
export const asksGoPprof = isInstalled || isCI;

if (!asksGoPprof) console.warn(`checks of profile files are skipped: ${HOW_TO_GET}`);

/** What `go tool pprof` prints of a profile. */
export const goPprof = (bytes: Uint8Array, args: readonly string[]): string => {
  if (!isInstalled) throw new Error(HOW_TO_GET);
  const directory = mkdtempSync(join(tmpdir(), 'spanline-pprof-'));
  const file = join(directory, 'cpu.pb.gz');
  writeFileSync(file, bytes);
  const { status, stdout, stderr } = spawnSync('go', ['tool', 'pprof', ...args, file], {
    encoding: 'utf8',
    env: environment,
    maxBuffer: 256 << 20,
  });
  rmSync(directory, { recursive: true });
  if (status !== 0) throw new Error(`go tool pprof ${args.join(' ')}: ${stderr}`);
  return stdout;
};

/** What `-tags` says of one value of a key. */
export interface GoTag {
  readonly ms: number;
  /** Among the values of the key, 0 to 1: newer releases print shares of the whole profile, older ones of the samples with the key. */
  readonly share: number;
}

const UNIT_MS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, ms: 1, s: 1e3, mins: 6e4, hrs: 3.6e6 };

/**
 * What `go tool pprof -tags` says, by key and value. Reads what is said and not how: the wording of the header, the number of decimals and
 * the base of the percentages differ between releases of Go (1.19 to 1.26 are known to be read).
 */
export const goPprofTags = (bytes: Uint8Array): Record<string, Record<string, GoTag>> => {
  const report = goPprof(bytes, ['-tags']);
  const keys: Record<string, Record<string, GoTag>> = {};
  for (const [, key, lines] of report.matchAll(/^ *(\S+): Total .*\n((?: +\S.*\n)*)/gm)) {
    const values = [...lines.matchAll(/^ *([\d.]+)([a-z]+) \( *([\d.]+)%\): (.*)$/gm)];
    const percents = values.reduce((sum, [, , , percent]) => sum + Number(percent), 0);
    keys[key] = Object.fromEntries(
      values.map(([, time, unit, percent, value]) => [
        value,
        { ms: Number(time) * UNIT_MS[unit], share: Number(percent) / percents },
      ]),
    );
  }
  return keys;
};
