// An application that imports every entry of a package is bundled by esbuild, rollup, webpack and vite, whether what is optional is installed or not, and the
// bundle gives what the entries give.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { ensureInstalled } from '../../scripts/lib/install.mjs';
import { build, codeEntries, root } from './consumer.js';
import { install, manifests, withSiblings } from './installed.js';

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
    const js = `import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);`;
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

const LIMIT_MS = 600_000;

test.each(cases)(
  '%s (%s), %s what is optional',
  async (_name, folder, which, others, ours, all) => {
    const dir = install([...new Set([...withSiblings(folder), ...ours])], others);
    const entries = all.filter((entry) => which === 'with' || !NEEDS_OPTIONAL.includes(entry));
    const file = join(dir, 'application.mjs');
    const imports = entries.map((entry, i) => `import * as entry${i} from '${entry}';`);
    const prints = entries.map((entry, i) => `console.log('${entry}', Object.keys(entry${i}).sort().join());`);
    writeFileSync(file, [...imports, ...prints, ''].join('\n'));
    const expected = run(dir, file);
    expect(expected.split('\n')).toHaveLength(entries.length + 1);
    const faults: string[] = [];
    for (const [name, bundle] of Object.entries(bundlers)) {
      try {
        const printed = run(dir, await bundle(dir, file, join(dir, 'out', name.replace(/\W+/g, '-'))));
        if (printed !== expected) faults.push(`${name}: ${printed}`);
      } catch (error) {
        faults.push(`${name}: refused, ${(error as Error).message}`);
      }
    }
    expect(faults).toEqual([]);
  },
  LIMIT_MS,
);
