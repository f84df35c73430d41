// npm run check-package: packs the tarball that would be published and looks at it as a stranger does.
// Prints one line a check; each is a name and, when it fails, what to do.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ensureBuilt } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { pack } from './lib/pack.mjs';
import { failWith, root } from './lib/run.mjs';

const tools = join(root, 'scripts/check-package');
const bin = (name) => join(tools, 'node_modules', name);

function capture(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  return { ok: status === 0, output: `${stdout}${stderr}` };
}

const MIB = 1024 * 1024;
const MAX_UNPACKED_BYTES = 5 * MIB;
// Of it some 520 kB are the code, 60 of them instrumentations, 110 kB declarations, 190 kB the page, 180 kB the binaries for two CPUs, for which there
// is room where they are not.
const MAX_PACKED_BYTES = MIB + 48 * 1024;
const BINARIES_BYTES = 180_000;
/** The page without speedscope, each file compressed as a server would. */
const MAX_PAGE_BYTES = 300_000;
const EXPECTED = [
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'dist/esm/index.js',
  'dist/cjs/index.js',
  'dist/cjs/archive/archive-worker.js',
  'dist/cjs/flight-recorder/recorder-room.js',
  'dist/cjs/cli/main.js',
  'dist/esm/profile/index.js',
  'dist/cjs/profile/index.js',
  // What the command loads into programs it profiles.
  'dist/esm/cli/profile/preload.js',
  'dist/esm/cli/profile/agent.js',
  'dist/cjs/cli/profile/agent.js',
  'dist/ui/index.html',
  'dist/ui/LICENSES.txt',
  'dist/ui/speedscope/index.html',
];
/** Where there are binaries at all, those that every Node line shares are among them. */
const PREBUILDS = ['x64', 'arm64'].flatMap((arch) =>
  ['tsc', 'sigprof'].map((name) => `prebuilds/linux-${arch}/${name}.node`),
);
const ALLOWED = /^(dist\/(esm|cjs|ui)\/|prebuilds\/|(package\.json|LICENSE|README\.md|CHANGELOG\.md)$)/;

const bytesOfPage = (paths) =>
  paths
    .filter((path) => path.startsWith('dist/ui/') && !path.startsWith('dist/ui/speedscope/'))
    .reduce((sum, path) => sum + gzipSync(readFileSync(join(root, path))).length, 0);

function faultsOfContents({ files, size, unpackedSize }) {
  const paths = files.map(({ path }) => path);
  const faults = EXPECTED.filter((path) => !paths.includes(path)).map((path) => `missing: ${path}`);
  const hasBinaries = paths.some((path) => path.startsWith('prebuilds/'));
  const most = hasBinaries ? MAX_PACKED_BYTES : MAX_PACKED_BYTES - BINARIES_BYTES;
  faults.push(...paths.filter((path) => !ALLOWED.test(path)).map((path) => `does not belong there: ${path}`));
  if (unpackedSize > MAX_UNPACKED_BYTES) faults.push(`${unpackedSize} bytes unpacked, more than ${MAX_UNPACKED_BYTES}`);
  if (size > most) faults.push(`${size} bytes packed, more than ${most}`);
  if (hasBinaries)
    faults.push(
      ...PREBUILDS.filter((path) => !paths.includes(path)).map((path) => `missing: ${path} (npm run prebuilds)`),
    );
  const page = bytesOfPage(paths);
  if (page > MAX_PAGE_BYTES) faults.push(`the page has ${page} bytes compressed, more than ${MAX_PAGE_BYTES}`);
  return faults;
}

const checks = {
  'tarball contents': (tarball) => {
    const faults = faultsOfContents(tarball);
    return { ok: faults.length === 0, output: faults.join('\n') };
  },
  publint: () => capture(process.execPath, [bin('publint/src/cli.js'), 'run', root, '--strict']),
  attw: (tarball) =>
    capture(process.execPath, [
      bin('@arethetypeswrong/cli/dist/index.js'),
      tarball.path,
      '--profile',
      'node16',
      '--no-emoji',
    ]),
};

await ensureBuilt().catch(failWith);
ensureInstalled(tools, 'what looks at the package');
const tarball = pack();
console.log(`${tarball.files.length} files, ${tarball.unpackedSize} bytes unpacked, ${tarball.size} packed`);
for (const [name, check] of Object.entries(checks)) {
  const { ok, output } = check(tarball);
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name}`);
  if (!ok) {
    console.log(output);
    process.exitCode = 1;
  }
}
