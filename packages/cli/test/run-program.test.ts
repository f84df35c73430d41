// `spanline run` asks the Node that it starts for context frames exactly where that Node takes the option, and is the one that was looked at.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { withFrames } from '../src/run-program.js';

const OPTION = '--experimental-async-context-frame';
const folder = mkdtempSync(join(tmpdir(), 'spanline-run-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const other = join(folder, 'other-node');
writeFileSync(other, '');
symlinkSync(process.execPath, join(folder, 'node'));

const node22 = { allowed: new Set([OPTION]), path: process.execPath };
const environment = { PATH: folder, NODE_OPTIONS: '--import x' };
const optionsFor = (command: string, more: NodeJS.ProcessEnv = {}, node: Parameters<typeof withFrames>[2] = node22) =>
  withFrames({ ...environment, ...more }, [command, 'app.js'], node).NODE_OPTIONS;

test.each(['node', 'npm', process.execPath, join(folder, 'node')])('%s of a Node that takes it', (command) => {
  expect(optionsFor(command)).toBe(`--import x ${OPTION}`);
});

test('a Node that does not, that is another, or that was asked already', () => {
  expect(optionsFor('node', {}, { ...node22, allowed: new Set() })).toBe('--import x');
  expect(optionsFor('node', {}, { ...node22, path: other })).toBe('--import x');
  expect(optionsFor('/usr/bin/no-such-place/node')).toBe('--import x');
  expect(optionsFor('npm', { PATH: '/no-such-place' })).toBe('--import x');
  expect(optionsFor('node', { SPANLINE_CONTEXT: 'als' })).toBe('--import x');
  expect(optionsFor('node', { NODE_OPTIONS: '--no-async-context-frame' })).toBe('--no-async-context-frame');
});
