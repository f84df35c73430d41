// The command line prints its version and help on standard output, explains wrong usage on standard error with exit
// code 2, and survives a reader that closes the pipe early.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { terminalWidth, wantsColour } from '../../src/cli/terminal.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

function spanline(...args: string[]) {
  const child = spawnSync(process.execPath, [join(root, 'scripts/spanline.mjs'), ...args], { encoding: 'utf8' });
  return { code: child.status, stdout: child.stdout, stderr: child.stderr };
}

describe('spanline', () => {
  test('--version prints the version and nothing else', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(spanline('--version')).toMatchObject({ code: 0, stdout: `${version}\n` });
  });

  test('--help names the commands, gives examples and the exit codes', () => {
    const { code, stdout } = spanline('--help');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: spanline /);
    expect(stdout).toMatch(/\n {2}clock\b/);
    expect(stdout).toContain('$ spanline clock');
    expect(stdout).toContain('Exit codes:');
    expect(spanline('clock', '--help').stdout).not.toContain('--measure');
  });

  test.each([[['tock']], [['--no-such-option']], [['clock', '--no-such-option']], [[]]])('wrong usage: %j', (args) => {
    const { code, stdout, stderr } = spanline(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('spanline');
  });

  test('a closed pipe is no failure', () => {
    const script = `set -o pipefail; "${process.execPath}" "${join(root, 'scripts/spanline.mjs')}" --help | true`;
    const { status, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test.skipIf(!existsSync('/dev/full'))('a full disk is a failure that is told, not a bug', () => {
    const script = `"${process.execPath}" "${join(root, 'scripts/spanline.mjs')}" --help > /dev/full`;
    const { status, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    expect(status).toBe(3);
    expect(stderr).toMatch(/^spanline: standard output cannot be written: ENOSPC.*\n$/);
  });
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
