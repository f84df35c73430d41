// `run` profiles a program and its children without changing what they do: output, exit code and signals are the program's own.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { buildFirst, scratch, spanline } from '../support/spanline.js';
import { shareOfQ1, shopProgram, type TopJson } from './support.js';

buildFirst();

const dir = scratch();
const program = shopProgram(dir);
const at = (name: string): string => join(dir, name);

const topOf = async (file: string): Promise<TopJson> => {
  const { stdout, stderr } = await spanline(['profile', 'top', file, '--by', 'query', '--json']);
  expect(stderr).toBe('');
  return JSON.parse(stdout) as TopJson;
};

const written = async (file: string): Promise<void> => {
  while (!existsSync(file)) await sleep(20);
};

test('the program’s output and exit code are its own; the file has its labels', async () => {
  const out = at('plain.pb.gz');
  const outcome = await spanline(['profile', 'run', '--out', out, '--', process.execPath, program, '700']);
  expect(outcome).toMatchObject({ code: 7, signal: null, stdout: 'begun\n' });
  expect(outcome.stderr).toContain(`profiles are in ${out}`);
  expect(shareOfQ1(await topOf(out))).toBeGreaterThan(0.6);
});

test.each(['cpuprofile', 'speedscope', 'folded'])('%s can be written at once', async (format) => {
  const out = at(`direct.${format}`);
  const args = ['profile', 'run', '--format', format, '--every', '2', '--out', out, '--', process.execPath, program];
  expect((await spanline([...args, '200'])).code).toBe(7);
  expect(existsSync(out)).toBe(true);
});

test('children and worker threads write files of their own', async () => {
  const parent = at('parent.mjs');
  writeFileSync(
    parent,
    `import { spawnSync } from 'node:child_process';
     import { Worker } from 'node:worker_threads';
     import { once } from 'node:events';
     spawnSync(process.execPath, [${JSON.stringify(program)}, '100'], { stdio: 'ignore' });
     await once(new Worker(${JSON.stringify(program)}, { argv: ['100'] }), 'exit');`,
  );
  const out = at('family.pb.gz');
  expect((await spanline(['profile', 'run', '--out', out, '--', process.execPath, parent])).code).toBe(0);
  const names = readdirSync(dir).filter((name) => name.startsWith('family'));
  expect(names.sort()).toEqual([
    expect.stringMatching(/^family-\d+\.pb\.gz$/),
    expect.stringMatching(/^family-thread\d+\.pb\.gz$/),
    'family.pb.gz',
  ]);
});

describe('signals', () => {
  test('SIGTERM ends the program as it would, and the file is written', async () => {
    const out = at('killed.pb.gz');
    const args = ['profile', 'run', '--out', out, '--', process.execPath, program, '600000'];
    const outcome = await spanline(args, {
      onStart: (kill) => void sleep(1500).then(() => kill('SIGTERM')),
    });
    expect(outcome).toMatchObject({ code: 143, signal: null });
    expect(existsSync(out)).toBe(true);
  });

  test('a program that handles SIGTERM ends in its own way', async () => {
    const own = at('own.mjs');
    writeFileSync(
      own,
      `process.on('SIGTERM', () => { console.log('mine'); process.exit(5); });
       setInterval(() => {}, 1000);
       process.kill(process.pid, 'SIGTERM');`,
    );
    const out = at('own.pb.gz');
    const outcome = await spanline(['profile', 'run', '--out', out, '--', process.execPath, own]);
    expect(outcome).toMatchObject({ code: 5, stdout: 'mine\n' });
    expect(existsSync(out)).toBe(true);
  });

  test('SIGUSR2 begins and ends a profile with --toggle', async () => {
    const out = at('toggled');
    const own = at('toggle.mjs');
    writeFileSync(
      own,
      `import { readdirSync, existsSync } from 'node:fs';
       const files = () => (existsSync(${JSON.stringify(out)}) ? readdirSync(${JSON.stringify(out)}).length : 0);
       const spin = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };
       const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
       for (let wanted = 1; wanted <= 2; wanted++) {
         process.kill(process.pid, 'SIGUSR2');
         // Longer than the self-test of the carriers takes.
         for (let i = 0; i < 20; i++) { spin(50); await wait(10); }
         process.kill(process.pid, 'SIGUSR2');
         while (files() < wanted) await wait(10);
       }`,
    );
    const outcome = await spanline(['profile', 'run', '--toggle', '--out', out, '--', process.execPath, own]);
    expect(outcome.code).toBe(0);
    expect(readdirSync(out)).toHaveLength(2);
  });
});

test('--continuous writes one file after the other and keeps so many', async () => {
  const out = at('rotated');
  const args = ['--continuous', '--rotate', '0.3', '--files', '2', '--budget', '100', '--out', out];
  const outcome = await spanline(['profile', 'run', ...args, '--', process.execPath, program, '1500']);
  expect(outcome.code).toBe(7);
  const names = readdirSync(out);
  // Two kept, and the last, which the end of the program wrote.
  expect(names.length).toBeGreaterThanOrEqual(2);
  expect(names.length).toBeLessThanOrEqual(3);
  const numbers = names.map((name) => Number(/-(\d+)\.pb\.gz$/.exec(name)?.[1]));
  expect(Math.min(...numbers)).toBeGreaterThan(0);
});

test('a program that is not there, and one that leaves no profile', async () => {
  const nowhere = await spanline(['profile', 'run', '--out', at('never'), '--', at('no-such-program')]);
  expect(nowhere).toMatchObject({ code: 3, stderr: expect.stringContaining('cannot be started') });
  const other = await spanline(['profile', 'run', '--out', at('never'), '--', 'true']);
  expect(other).toMatchObject({ code: 3, stderr: expect.stringContaining('left no profile') });
});

test('TypeScript frames are named by source maps', async () => {
  const { transformSync } = await import('esbuild');
  const source = `interface Unit { n: number }\n\nexport const spinTyped = (unit: Unit): number => {\n  let x = 0;\n  const end = performance.now() + 300;\n  while (performance.now() < end) x += Math.sqrt(unit.n);\n  return x;\n};\nspinTyped({ n: 3 });\n`;
  const { code } = transformSync(source, { loader: 'ts', sourcefile: 'typed.ts', sourcemap: 'inline', format: 'esm' });
  const file = at('typed.mjs');
  writeFileSync(file, code);
  const out = at('typed.folded');
  await spanline(['profile', 'run', '--source-maps', '--format', 'folded', '--out', out, '--', process.execPath, file]);
  await written(out);
  const { stdout } = await spanline(['profile', 'export', out, '--format', 'folded']);
  expect(stdout).toMatch(/spinTyped \(file:\S*\/typed\.ts:3:\d+\)/);
});
