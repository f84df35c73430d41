// `run` profiles children and workers too, in every format, begins and ends by signals, and is in nobody's way.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { buildFirst, scratch, spanline, spanlineProcess } from '../support/spanline.js';
import { shopProgram } from './support.js';

buildFirst();

const dir = scratch();
const program = shopProgram(dir);
const at = (name: string): string => join(dir, name);

const written = async (file: string): Promise<void> => {
  while (!existsSync(file)) await sleep(20);
};

test.each(['cpuprofile', 'speedscope', 'folded'])('%s can be written at once', async (format) => {
  const out = at(`direct.${format}`);
  const args = ['profile', 'run', '--format', format, '--every', '2', '--out', out, '--', process.execPath, program];
  expect((await spanlineProcess([...args, '200'])).code).toBe(7);
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
  expect((await spanlineProcess(['profile', 'run', '--out', out, '--', process.execPath, parent])).code).toBe(0);
  const names = readdirSync(dir).filter((name) => name.startsWith('family'));
  expect(names.sort()).toEqual([
    expect.stringMatching(/^family-\d+\.pb\.gz$/),
    expect.stringMatching(/^family-thread\d+\.pb\.gz$/),
    'family.pb.gz',
  ]);
});

describe('signals', () => {
  test('a program that handles SIGTERM ends in its own way', async () => {
    const own = at('own.mjs');
    writeFileSync(
      own,
      `process.on('SIGTERM', () => { console.log('mine'); process.exit(5); });
       setInterval(() => {}, 1000);
       process.kill(process.pid, 'SIGTERM');`,
    );
    const out = at('own.pb.gz');
    const outcome = await spanlineProcess(['profile', 'run', '--out', out, '--', process.execPath, own]);
    expect(outcome).toMatchObject({ code: 5, stdout: 'mine\n' });
    expect(existsSync(out)).toBe(true);
  });

  test('a library that counts the handlers of a signal finds its own alone, and ends the program', async () => {
    const own = at('counts.mjs');
    writeFileSync(
      own,
      `const onSignal = () => {
         console.log(process.listenerCount('SIGTERM'));
         if (process.listenerCount('SIGTERM') > 1) return;
         process.off('SIGTERM', onSignal);
         process.kill(process.pid, 'SIGTERM');
       };
       process.on('SIGTERM', onSignal);
       setTimeout(() => process.kill(process.pid, 'SIGTERM'), 50);
       setTimeout(() => process.exit(9), 10_000);`,
    );
    const out = at('counts.pb.gz');
    const outcome = await spanlineProcess(['profile', 'run', '--out', out, '--', process.execPath, own]);
    expect(outcome).toMatchObject({ code: 143, stdout: '1\n' });
    expect(existsSync(out)).toBe(true);
  });

  test('a program that has handled a signal once is ended by the next', async () => {
    const own = at('once.mjs');
    writeFileSync(
      own,
      `process.once('SIGINT', () => setTimeout(() => process.kill(process.pid, 'SIGINT'), 50));
       setTimeout(() => process.kill(process.pid, 'SIGINT'), 50);
       setTimeout(() => process.exit(9), 10_000);`,
    );
    const out = at('once.pb.gz');
    expect((await spanlineProcess(['profile', 'run', '--out', out, '--', process.execPath, own])).code).toBe(130);
    expect(existsSync(out)).toBe(true);
  });

  test('SIGUSR2 at once after another ends the profile that is about to begin', async () => {
    const out = at('toggled-at-once');
    const own = at('at-once.mjs');
    writeFileSync(
      own,
      `import { existsSync, readdirSync } from 'node:fs';
       const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
       process.kill(process.pid, 'SIGUSR2');
       await wait(1);
       process.kill(process.pid, 'SIGUSR2');
       for (let i = 0; i < 1000 && !existsSync(${JSON.stringify(out)}); i++) await wait(10);
       while (readdirSync(${JSON.stringify(out)}).some((name) => name.endsWith('.tmp'))) await wait(10);
       console.log(readdirSync(${JSON.stringify(out)}).length);`,
    );
    const outcome = await spanlineProcess(['profile', 'run', '--toggle', '--out', out, '--', process.execPath, own]);
    expect(outcome).toMatchObject({ code: 0, stdout: '1\n' });
    expect(readdirSync(out)).toHaveLength(1);
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
    const outcome = await spanlineProcess(['profile', 'run', '--toggle', '--out', out, '--', process.execPath, own]);
    expect(outcome.code).toBe(0);
    expect(readdirSync(out)).toHaveLength(2);
  });
});

test('--continuous writes one file after the other and keeps so many', async () => {
  const out = at('rotated');
  const args = ['--continuous', '--rotate', '0.3', '--files', '2', '--budget', '100', '--out', out];
  const outcome = await spanlineProcess(['profile', 'run', ...args, '--', process.execPath, program, '1500']);
  expect(outcome.code).toBe(7);
  const names = readdirSync(out);
  // Two kept, and the last, which the end of the program wrote.
  expect(names.length).toBeGreaterThanOrEqual(2);
  expect(names.length).toBeLessThanOrEqual(3);
  const numbers = names.map((name) => Number(/-(\d+)\.pb\.gz$/.exec(name)?.[1]));
  expect(Math.min(...numbers)).toBeGreaterThan(0);
});

test.each<[string, string, number]>([
  ['process.exit', 'process.exit(4);', 4],
  ['an uncaught error', "throw new Error('mine');", 1],
  ['a rejection', "await Promise.reject(new Error('mine'));", 1],
])('a program that ends by %s: its code, its words and a file', async (name, end, code) => {
  const own = at(`${name}.mjs`);
  writeFileSync(own, `console.log(JSON.stringify(process.argv.slice(2))); ${end}`);
  const out = at(`${name}.pb.gz`);
  const args = ['--every', '--out', '-x', '--', 'two words', ''];
  const outcome = await spanlineProcess(['profile', 'run', '--out', out, '--', process.execPath, own, ...args]);
  expect(outcome).toMatchObject({ code, stdout: `${JSON.stringify(args)}\n` });
  expect(outcome.stderr.includes('Error: mine')).toBe(code === 1);
  expect(existsSync(out)).toBe(true);
});

test('a program that only its children profile has left profiles', async () => {
  const out = at('children.pb.gz');
  const line = `${process.execPath} ${program} 50; true`;
  const outcome = await spanlineProcess(['profile', 'run', '--out', out, '--', 'sh', '-c', line]);
  expect(outcome).toMatchObject({ code: 0, stderr: expect.stringContaining('profiles are in') });
  expect(readdirSync(dir).filter((name) => /^children-\d+\.pb\.gz$/.test(name))).toHaveLength(1);
});

test('a directory that is full by --files has new profiles all the same', async () => {
  const out = at('full');
  const args = ['--continuous', '--rotate', '0.1', '--files', '1', '--budget', '100', '--out', out];
  const command = ['profile', 'run', ...args, '--', process.execPath, '-e', 'setTimeout(() => {}, 600)'];
  for (let run = 0; run < 2; run++) expect((await spanlineProcess(command)).code).toBe(0);
});

test('a place that cannot be written is said once, and the program is as it was', async () => {
  const out = join(program, 'in\x1b[31mside', 'cpu.pb.gz');
  const args = ['profile', 'run', '--continuous', '--rotate', '0.1', '--budget', '100', '--out', out, '--'];
  const outcome = await spanlineProcess([...args, process.execPath, program, '500']);
  expect(outcome).toMatchObject({ code: 7, stdout: 'begun\n' });
  expect(outcome.stderr.match(/the profile failed/g)).toHaveLength(1);
  expect(outcome.stderr).not.toContain('\x1b');
});

test('TypeScript frames are named by source maps', async () => {
  const { transformSync } = await import('esbuild');
  const source = `interface Unit { n: number }\n\nexport const spinTyped = (unit: Unit): number => {\n  let x = 0;\n  const end = performance.now() + 300;\n  while (performance.now() < end) x += Math.sqrt(unit.n);\n  return x;\n};\nspinTyped({ n: 3 });\n`;
  const { code } = transformSync(source, { loader: 'ts', sourcefile: 'typed.ts', sourcemap: 'inline', format: 'esm' });
  const file = at('typed.mjs');
  writeFileSync(file, code);
  const out = at('typed.folded');
  await spanlineProcess([
    'profile',
    'run',
    '--source-maps',
    '--format',
    'folded',
    '--out',
    out,
    '--',
    process.execPath,
    file,
  ]);
  await written(out);
  const { stdout } = await spanline(['profile', 'export', out, '--format', 'folded']);
  expect(stdout).toMatch(/spinTyped \(file:\S*\/typed\.ts:3:\d+\)/);
});
