// npm run check-package: packs the tarballs that would be published and looks at each as a stranger does.
// Prints one line a check; each is a name and, when it fails, what to do.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ADDONS, PACKAGE_OF } from './lib/addons.mjs';
import { ensureBuilt } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { pack } from './lib/pack.mjs';
import { codeEntries, inPackage, manifestOf, packages } from './lib/packages.mjs';
import { failWith, root } from './lib/run.mjs';

const tools = join(root, 'scripts/check-package');
const bin = (name) => join(tools, 'node_modules', name);

function capture(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  return { ok: status === 0, output: `${stdout}${stderr}` };
}

const MIB = 1024 * 1024;
const KIB = 1024;
/** The page, each file compressed as a server would. */
const MAX_PAGE_BYTES = 300_000;

/** By the folder of the package: what its tarball may weigh, and some of what belongs into it. */
const EXPECTED = {
  '': {
    maxUnpacked: 3 * MIB,
    // Of it some 300 kB are the code and its declarations, 60 of them instrumentations, 160 kB the binaries for two CPUs, for which there is room where
    // they are not.
    maxPacked: 560 * KIB,
    binariesBytes: 160_000,
    files: ['CHANGELOG.md', 'dist/esm/index.js', 'dist/cjs/index.js', 'dist/cjs/flight-recorder/recorder-feature.js'],
  },
  'packages/graph': {
    maxUnpacked: 400 * KIB,
    maxPacked: 120 * KIB,
    files: ['dist/cjs/index.js', 'dist/esm/index.js'],
  },
  'packages/profile': {
    maxUnpacked: 400 * KIB,
    maxPacked: 120 * KIB,
    binariesBytes: 20_000,
    files: ['dist/cjs/index.js', 'dist/esm/index.js'],
  },
  'packages/archive': {
    maxUnpacked: 900 * KIB,
    maxPacked: 220 * KIB,
    files: ['dist/cjs/index.js', 'dist/esm/index.js', 'dist/cjs/archive/archive-worker.js'],
  },
  'packages/tracedb': {
    maxUnpacked: 900 * KIB,
    maxPacked: 220 * KIB,
    files: ['dist/cjs/index.js', 'dist/esm/bench-history/index.js'],
  },
  'packages/ui': {
    maxUnpacked: 700 * KIB,
    maxPacked: 160 * KIB,
    files: ['dist/cjs/internal.js', 'dist/ui/index.html', 'dist/ui/LICENSES.txt'],
  },
  'packages/cli': {
    maxUnpacked: 400 * KIB,
    maxPacked: 120 * KIB,
    files: [
      'dist/cjs/main.js',
      // What the command loads into programs it profiles.
      'dist/esm/profile/preload.js',
      'dist/esm/profile/agent.js',
      'dist/cjs/profile/agent.js',
    ],
  },
};
/** Where there are binaries at all, those that every Node line shares are among them. */
const prebuildsOf = ({ folder }) =>
  ['x64', 'arm64'].flatMap((arch) =>
    Object.keys(ADDONS)
      .filter((name) => PACKAGE_OF[name] === folder)
      .map((name) => `prebuilds/linux-${arch}/${name}.node`),
  );
const ALLOWED = /^(dist\/(esm|cjs|ui)\/|prebuilds\/|(package\.json|LICENSE|README\.md|CHANGELOG\.md)$)/;

const bytesOfPage = (one, paths) =>
  paths
    .filter((path) => path.startsWith('dist/ui/'))
    .reduce((sum, path) => sum + gzipSync(readFileSync(inPackage(one, path))).length, 0);

function faultsOfContents(one, { files, size, unpackedSize }) {
  const { maxUnpacked, maxPacked, binariesBytes = 0, files: expected } = EXPECTED[one.folder];
  const paths = files.map(({ path }) => path);
  const faults = ['LICENSE', 'README.md', ...expected]
    .filter((path) => !paths.includes(path))
    .map((path) => `missing: ${path}`);
  const hasBinaries = paths.some((path) => path.startsWith('prebuilds/'));
  const most = hasBinaries ? maxPacked : maxPacked - binariesBytes;
  faults.push(...paths.filter((path) => !ALLOWED.test(path)).map((path) => `does not belong there: ${path}`));
  if (unpackedSize > maxUnpacked) faults.push(`${unpackedSize} bytes unpacked, more than ${maxUnpacked}`);
  if (size > most) faults.push(`${size} bytes packed, more than ${most}`);
  if (hasBinaries)
    faults.push(
      ...prebuildsOf(one)
        .filter((path) => !paths.includes(path))
        .map((path) => `missing: ${path} (npm run prebuilds)`),
    );
  const page = bytesOfPage(one, paths);
  if (page > MAX_PAGE_BYTES) faults.push(`the page has ${page} bytes compressed, more than ${MAX_PAGE_BYTES}`);
  return faults;
}

const checks = {
  'tarball contents': (one, tarball) => {
    const faults = faultsOfContents(one, tarball);
    return { ok: faults.length === 0, output: faults.join('\n') };
  },
  publint: (one) => capture(process.execPath, [bin('publint/src/cli.js'), 'run', inPackage(one), '--strict']),
  attw: (one, tarball) => {
    // What exports no code has no types.
    if (Object.keys(codeEntries(one)).length === 0) return { ok: true };
    const attw = bin('@arethetypeswrong/cli/dist/index.js');
    return capture(process.execPath, [attw, tarball.path, '--profile', 'node16', '--no-emoji']);
  },
};

await ensureBuilt().catch(failWith);
ensureInstalled(tools, 'what looks at the packages');
for (const one of packages) {
  const tarball = pack(one);
  const { name } = manifestOf(one);
  console.log(`${name}: ${tarball.files.length} files, ${tarball.unpackedSize} bytes unpacked, ${tarball.size} packed`);
  for (const [title, check] of Object.entries(checks)) {
    const { ok, output } = check(one, tarball);
    console.log(`${ok ? 'ok  ' : 'FAIL'} ${title}`);
    if (!ok) {
      console.log(output);
      process.exitCode = 1;
    }
  }
}
