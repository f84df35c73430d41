// How the tests run: the TypeScript sources as they are, each test file in a process of its own kind of decorators.
// Must not hide a slow test: time limits are generous because two cores are shared, not because tests may wait.
import { transform } from 'esbuild';
import { defineConfig, type Plugin } from 'vitest/config';

/** Decorators and `using` that Node 20 does not know; `*.legacy-decorators.*` gets TypeScript's older decorators. */
const lowerSyntax: Plugin = {
  name: 'lower-syntax',
  enforce: 'pre',
  async transform(code, id) {
    const file = id.split('?')[0];
    if (!file.endsWith('.ts') || file.includes('/node_modules/')) return null;
    const experimentalDecorators = file.includes('.legacy-decorators.');
    const result = await transform(code, {
      loader: 'ts',
      target: 'node20.19',
      sourcefile: file,
      sourcemap: true,
      tsconfigRaw: { compilerOptions: { experimentalDecorators, verbatimModuleSyntax: true } },
    });
    return { code: result.code, map: result.map };
  },
};

export default defineConfig({
  plugins: [lowerSyntax],
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    execArgv: ['--expose-gc'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
