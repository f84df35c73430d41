// The workflow for GitHub Actions calls commands and options that there are.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../../packages/cli/src/program.js';

const workflow = readFileSync(new URL('../../examples/github-actions/overhead.yml', import.meta.url), 'utf8');
const program = await createProgram();
const calls = [...workflow.matchAll(/npx @spanline\/cli (\w+) (\w+) (.*?) -- /g)];

test('both commands of the workflow are called', () => {
  expect(calls.map(([, room, name]) => `${room} ${name}`)).toEqual(['bench gate', 'bench overhead']);
});

test.each(calls.map(([, room, name, options]) => [room, name, options]))(
  '%s %s takes what it is given',
  (room, name, options) => {
    const find = (parent: Command, word: string): Command => {
      const found = parent.commands.find((one) => one.name() === word);
      if (found === undefined) throw new Error(`there is no command ${word}`);
      return found;
    };
    const known = find(find(program, room), name).options.map(({ long }) => long);
    const given = options.match(/--[a-z-]+(?= )/g) ?? [];
    expect(given.filter((option) => option !== '--if-present' && !known.includes(option))).toEqual([]);
  },
);
