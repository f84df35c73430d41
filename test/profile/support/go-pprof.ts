// Go's own reader of pprof, which knows nothing of this library. Not everywhere installed: tests that need it say so.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const environment = { ...process.env, PPROF_NO_BROWSER: '1', HOME: tmpdir(), GOFLAGS: '', PPROF_TMPDIR: tmpdir() };

/** True where `go tool pprof` runs. */
export const hasGoPprof = spawnSync('go', ['tool', 'pprof', '-h'], { env: environment }).error === undefined;

if (!hasGoPprof) console.warn('go tool pprof is not installed (Debian: golang-go): its checks are skipped');

/** What `go tool pprof` prints of a profile. */
export const goPprof = (bytes: Uint8Array, args: readonly string[]): string => {
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
