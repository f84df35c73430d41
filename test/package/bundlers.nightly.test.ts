// An application that imports an entry of ours is bundled by esbuild, rollup, webpack and vite, whether what is optional is installed or not, and the
// bundle gives what the entry gives.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { ensureInstalled } from '../../scripts/lib/install.mjs';
import { codeEntries, root } from './consumer.js';
import { build, install, manifests, withSiblings } from './installed.js';

const tools = join(root, 'test/package/bundlers');
beforeAll(() => {
  build();
  ensureInstalled(tools, 'bundlers');
});

/** Writes a bundle of `file` into `out`; gives the name of its first file. */
type Bundle = (dir: string, file: string, out: string) => Promise<string>;

const esbuild =
  (format: 'esm' | 'cjs'): Bundle =>
  async (_, file, out) => {
    const outfile = `${out}/main.${format === 'esm' ? 'mjs' : 'cjs'}`;
    // As esbuild's own documentation says for what is CommonJS inside: a module has no `require`.
    const js = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`;
    const banner = format === 'esm' ? { banner: { js } } : {};
    const { build } = await import('esbuild');
    await build({
      entryPoints: [file],
      outfile,
      format,
      bundle: true,
      platform: 'node',
      logLevel: 'silent',
      ...banner,
    });
    return outfile;
  };

const bundlers: Readonly<Record<string, Bundle>> = {
  'esbuild, ESM': esbuild('esm'),
  'esbuild, CommonJS': esbuild('cjs'),
  async rollup(_, file, out) {
    const require = createRequire(join(tools, 'package.json'));
    const { rollup } = require('rollup');
    const [resolve, commonjs, json] = ['node-resolve', 'commonjs', 'json'].map((name) => {
      const plugin = require(`@rollup/plugin-${name}`);
      return plugin.default ?? plugin;
    });
    const plugins = [resolve({ preferBuiltins: true, exportConditions: ['node'] }), commonjs(), json()];
    const bundle = await rollup({ input: file, plugins, onwarn: () => undefined });
    await bundle.write({ dir: out, format: 'es', entryFileNames: 'main.mjs' });
    await bundle.close();
    return `${out}/main.mjs`;
  },
  async webpack(_, file, out) {
    const webpack = createRequire(join(tools, 'package.json'))('webpack');
    const output = { path: out, filename: 'main.cjs' };
    const optimization = { minimize: false };
    await new Promise<void>((done, reject) => {
      webpack(
        { mode: 'production', target: 'node20', entry: file, output, optimization },
        (error: unknown, stats: { toJson(options: object): { errors: Error[] } }) => {
          const { errors } = stats?.toJson({ all: false, errors: true }) ?? { errors: [] };
          if (error) reject(error);
          else if (errors.length > 0) reject(new Error(errors.map(({ message }) => message).join('\n')));
          else done();
        },
      );
    });
    return `${out}/main.cjs`;
  },
  async vite(dir, file, out) {
    const { build } = await import('vite');
    await build({
      root: dir,
      configFile: false,
      logLevel: 'silent',
      ssr: { noExternal: true },
      build: { ssr: file, outDir: out, rollupOptions: { output: { entryFileNames: 'main.mjs' } } },
    });
    return `${out}/main.mjs`;
  },
};

const run = (dir: string, file: string): string => {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const options = { cwd: dir, env: { ...env, OTEL_TRACES_EXPORTER: 'none' }, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], options);
  return status === 0 ? stdout : `exit code ${status}\n${stderr}`;
};

/** Entries that are for users of what is optional only: they say what is missing. */
const NEEDS_OPTIONAL = ['spanline/otel'];

const OPTIONAL: Readonly<Record<string, readonly string[]>> = {
  '': ['@opentelemetry/api@1.9.1'],
  'packages/tracedb': ['@google-cloud/bigtable'],
  'packages/ui': ['@google-cloud/bigtable'],
};
const OPTIONAL_OF_OURS: Readonly<Record<string, readonly string[]>> = { '': withSiblings('packages/archive') };

const cases = [...manifests].flatMap(([folder, manifest]) => {
  const entries = codeEntries(manifest);
  if (entries.length === 0) return [];
  const withAll = [folder, 'with', OPTIONAL[folder] ?? [], OPTIONAL_OF_OURS[folder] ?? []] as const;
  const isOptional = withAll[2].length + withAll[3].length > 0;
  const without = [folder, 'without', [], []] as const;
  return (isOptional ? [without, withAll] : [without]).map((one) => [manifest.name, ...one, entries] as const);
});

test.each(cases)('%s (%s), %s what is optional', async (_name, folder, which, others, ours, entries) => {
  const dir = install([...new Set([...withSiblings(folder), ...ours])], others);
  const faults: string[] = [];
  for (const entry of entries) {
    if (which === 'without' && NEEDS_OPTIONAL.includes(entry)) continue;
    const id = entry.replace(/\W+/g, '_');
    const file = join(dir, `${id}.mjs`);
    writeFileSync(file, `import * as entry from '${entry}';\nconsole.log(Object.keys(entry).sort().join());\n`);
    const expected = run(dir, file);
    expect(expected).toMatch(/^\w+(,\w+)*\n$/);
    for (const [name, bundle] of Object.entries(bundlers)) {
      try {
        const printed = run(dir, await bundle(dir, file, join(dir, 'out', name.replace(/\W+/g, '-'), id)));
        if (printed !== expected) faults.push(`${entry}, ${name}: ${printed}`);
      } catch (error) {
        faults.push(`${entry}, ${name}: refused, ${(error as Error).message}`);
      }
    }
  }
  expect(faults).toEqual([]);
});
