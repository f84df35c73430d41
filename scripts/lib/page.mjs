// Builds the page of `spanline ui` into dist/ui of its package by vite. Must not put anything
// into the page that the content security policy of packages/ui/src/page-files.ts forbids: inline scripts, inline styles, other hosts.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

/** Packages whose code is in the page's own files. */
const BUNDLED = ['preact', 'uplot'];

/** Their licences, which whoever passes on the code passes on too. */
function licences() {
  const textOf = (name) => {
    const folder = join(root, 'node_modules', name);
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return `${name} ${version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}\n`;
  };
  return BUNDLED.map(textOf).join('\n\n');
}

/** The old build stays in place until the new one is complete. */
export async function buildPage() {
  const { build } = await import('vite');
  const fresh = join(root, 'packages/ui/dist/.ui-new');
  await build({
    root: join(root, 'packages/ui/src/page'),
    base: '/ui/',
    configFile: false,
    // Standard output belongs to who asked for the build.
    logLevel: 'silent',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: fresh,
      emptyOutDir: true,
      target: 'es2022',
      // A data: URL is an inline script or style to the policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
  });
  writeFileSync(join(fresh, 'LICENSES.txt'), licences());
  const place = join(root, 'packages/ui/dist/ui');
  rmSync(place, { recursive: true, force: true });
  renameSync(fresh, place);
}
