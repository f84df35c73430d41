// What axe-core finds wrong with a page, as lines that name the rule and the element.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Empty when the page is clean. Evaluated past the page's content security policy, as an extension of the browser would be. */
export const accessibilityFaults = async (page: Page): Promise<string[]> => {
  // A page that is looked at again has it.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(source);
  const { violations } = (await page.evaluate('axe.run(document)')) as { violations: Violation[] };
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html}`));
};
