// docs/cli.md has what every command prints as its help. `npm run docs:cli` writes the page anew.
import { expect, test } from 'vitest';
import { createProgram } from '../../packages/cli/src/program.js';
import { PAGE, pageOf } from './support/cli-page.js';

test('the page has the commands as they are', async () => {
  await expect(pageOf(await createProgram())).toMatchFileSnapshot(PAGE);
});
