// npm run check-package: packs the tarball that would be published and looks at it as a stranger does.
// Prints one line a check; each is a name and, when it fails, what to do.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt } from './lib/build.mjs';
import { failWith, root } from './lib/run.mjs';

const bin = (name) => join(root, 'node_modules', name);

function capture(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  return { ok: status === 0, stdout, output: `${stdout}${stderr}` };
}

/** Pack into .tmp/pack; npm's description of the tarball. */
function pack() {
  const dir = join(root, '.tmp/pack');
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  const { ok, stdout, output } = capture('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', dir]);
  if (!ok) throw new Error(`npm pack failed:\n${output}`);
  const parsed = JSON.parse(stdout);
  const [description] = Array.isArray(parsed) ? parsed : Object.values(parsed);
  return { ...description, path: join(dir, description.filename) };
}

const MIB = 1024 * 1024;
const MAX_UNPACKED_BYTES = 5 * MIB;
// Of it some 750 kB are the code in two formats, 170 kB declarations, 150 kB binaries for two CPUs.
const MAX_PACKED_BYTES = 1.5 * MIB;
const EXPECTED = [
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'dist/esm/index.js',
  'dist/cjs/index.js',
  'dist/esm/archive/archive-worker.js',
  'dist/cjs/archive/archive-worker.js',
  'dist/esm/flight-recorder/recorder-room.js',
  'dist/cjs/flight-recorder/recorder-room.js',
  'dist/esm/cli/main.js',
  'dist/esm/profile/index.js',
  'dist/cjs/profile/index.js',
  // What the command loads into programs it profiles.
  'dist/esm/cli/profile/preload.js',
  'dist/esm/cli/profile/agent.js',
  'dist/ui/index.html',
  'dist/ui/speedscope/index.html',
];
/** Where there are binaries at all, those that every Node line shares are among them. */
const PREBUILDS = ['x64', 'arm64'].flatMap((arch) =>
  ['tsc', 'sigprof'].map((name) => `prebuilds/linux-${arch}/${name}.node`),
);
const ALLOWED = /^(dist\/(esm|cjs|ui)\/|prebuilds\/|(package\.json|LICENSE|README\.md|CHANGELOG\.md)$)/;

function faultsOfContents({ files, size, unpackedSize }) {
  const paths = files.map(({ path }) => path);
  const faults = EXPECTED.filter((path) => !paths.includes(path)).map((path) => `missing: ${path}`);
  if (paths.some((path) => path.startsWith('prebuilds/'))) {
    faults.push(
      ...PREBUILDS.filter((path) => !paths.includes(path)).map((path) => `missing: ${path} (npm run prebuilds)`),
    );
  }
  faults.push(...paths.filter((path) => !ALLOWED.test(path)).map((path) => `does not belong there: ${path}`));
  if (unpackedSize > MAX_UNPACKED_BYTES) faults.push(`${unpackedSize} bytes unpacked, more than ${MAX_UNPACKED_BYTES}`);
  if (size > MAX_PACKED_BYTES) faults.push(`${size} bytes packed, more than ${MAX_PACKED_BYTES}`);
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
