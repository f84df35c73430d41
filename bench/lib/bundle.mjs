// Inner parts that a suite measures, as one module: benchmarks run what is built, and what no entry point gives away is built for them here.
import { join } from 'node:path';
import { root } from '../../scripts/lib/run.mjs';

/** Bundle `entry` into dist/bench/`name`; `more` are further options of esbuild. */
export const bundleFor = async (entry, name, more = {}) => {
  const { build } = await import('esbuild');
  await build({
    entryPoints: [entry],
    outfile: join(root, 'dist/bench', name),
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    logLevel: 'warning',
    ...more,
  });
};
