// Every ```ts example of README.md and docs/ type-checks and runs as it stands, against the built package.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
// Inside the checkout, so that `spanline` is the package itself.
const out = join(root, `.tmp/docs-examples-${process.versions.modules}`);

interface Example {
  readonly name: string;
  readonly code: string;
}

const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith('.md'),
);

const examplesOf = (page: string): Example[] => {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map((match, i) => ({
    name: `${page.replace(/[^a-z]+/gi, '-')}-${i + 1}`,
    code: match[1],
  }));
};

const examples = pages.flatMap(examplesOf);

beforeAll(() => {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const { name, code } of examples) {
    writeFileSync(join(out, `${name}.ts`), `${code}\nexport {}\n`);
    const { code: js } = transformSync(code, { loader: 'ts', target: 'node20.19', format: 'esm' });
    writeFileSync(join(out, `${name}.js`), js);
  }
});

test('there are examples on the pages a user starts with', () => {
  for (const page of ['README.md', 'docs/getting-started.md', 'docs/spans.md', 'docs/exporters.md']) {
    expect(examplesOf(page).length, page).toBeGreaterThan(0);
  }
});

test('all examples type-check', () => {
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { noUnusedLocals: false, paths: {}, target: 'ESNext' },
    include: [join(out, '*.ts')],
    exclude: [],
  };
  writeFileSync(join(out, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', out], { encoding: 'utf8' });
  expect(stdout).toBe('');
  expect(status).toBe(0);
});

describe('each example runs', () => {
  test.each(examples.map(({ name }) => name))('%s', (name) => {
    const { status, stderr } = spawnSync(process.execPath, [join(out, `${name}.js`)], {
      cwd: out,
      encoding: 'utf8',
      timeout: 30_000,
      env: { ...process.env, NO_COLOR: '1', OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    });
    expect(status, stderr).toBe(0);
  });
});
