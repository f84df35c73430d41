// The command line prints its version and help on standard output, and explains wrong usage on standard error with exit code 2. Its process is in
// pipes.process.test.ts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { terminalWidth, wantsColour } from '../src/output.js';
import { root, spanline } from './support/spanline.js';

describe('spanline', () => {
  test('--version prints the version and nothing else', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(await spanline(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
  });

  test('--help names the commands, gives examples and the exit codes', async () => {
    const { code, stdout } = await spanline(['--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: spanline /);
    expect(stdout).toMatch(/\n {2}clock\b/);
    expect(stdout).toContain('$ spanline clock');
    expect(stdout).toContain('Exit codes:');
    expect((await spanline(['clock', '--help'])).stdout).not.toContain('--measure');
  });

  test.each([[['tock']], [['--no-such-option']], [['clock', '--no-such-option']], [[]]])(
    'wrong usage: %j',
    async (args) => {
      const { code, stdout, stderr } = await spanline(args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('spanline');
    },
  );
});

describe('terminal', () => {
  const terminal = { isTTY: true, columns: 80 } as const;
  const pipe = { isTTY: false, columns: 0 } as const;

  test('colours on a terminal only, unless the environment says otherwise', () => {
    expect(wantsColour(terminal, {})).toBe(true);
    expect(wantsColour(pipe, {})).toBe(false);
    expect(wantsColour(terminal, { TERM: 'dumb' })).toBe(false);
    expect(wantsColour(pipe, { FORCE_COLOR: '1' })).toBe(true);
    expect(wantsColour(terminal, { FORCE_COLOR: '0' })).toBe(false);
    expect(wantsColour(terminal, { NO_COLOR: '1', FORCE_COLOR: '1' })).toBe(false);
    expect(wantsColour(terminal, { NO_COLOR: '' })).toBe(true);
  });

  test('the width of a terminal, a fixed one in a pipe', () => {
    expect(terminalWidth(terminal)).toBe(80);
    expect(terminalWidth(pipe, 120)).toBe(120);
  });
});
