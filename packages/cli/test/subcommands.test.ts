// Whoever names a command gets it with all its options, and loads no other of its group; whoever names none that there is gets all of them.
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../src/program.js';

const whole = await createProgram();
const groups = whole.commands.filter(({ commands }) => commands.length > 0);

const helpOf = (program: Command, room: string, name: string): string | undefined =>
  commandsOf(program, room)
    .find((one) => one.name() === name)
    ?.helpInformation();

const commandsOf = (program: Command, room: string): readonly Command[] =>
  program.commands.find((one) => one.name() === room)?.commands ?? [];

const namesOf = (program: Command, room: string): string[] => commandsOf(program, room).map((one) => one.name());

test('all groups are found', () => {
  expect(groups.map((group) => group.name())).toEqual([
    'trace',
    'archive',
    'snapshot',
    'perf',
    'bench',
    'gold',
    'profile',
    'graph',
  ]);
});

describe.each(groups.map((group) => group.name()))('%s', (room) => {
  test.each(namesOf(whole, room))('%s alone is as it is among all', async (name) => {
    const program = await createProgram([room, name, '--json']);
    expect(helpOf(program, room, name)).toBe(helpOf(whole, room, name));
    expect(namesOf(program, room).length).toBeLessThan(namesOf(whole, room).length);
  });

  test.each([
    [[room]],
    [[room, '--help']],
    [[room, 'help', 'x']],
    [[room, 'no-such-command']],
    [['help', room]],
    [['--', room]],
  ])('%j is about all', async (args) => {
    expect(namesOf(await createProgram(args), room)).toEqual(namesOf(whole, room));
  });

  test('is empty for the command line of another', async () => {
    expect(namesOf(await createProgram(['clock']), room)).toEqual([]);
  });
});
