// The libraries that tests trace, in a folder of their own: installed on first use. What full tests alone ask for is among its optional
// dependencies, so that the quick suite need not install it.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('./libraries/', import.meta.url));

// By its address: scripts have no types.
const { ensureInstalled } = (await import(new URL('../../scripts/lib/install.mjs', import.meta.url).href)) as {
  ensureInstalled(folder: string, name: string, options: readonly string[], isWhole: boolean): void;
};
const isQuick = (process.env.SPANLINE_TESTS ?? 'quick') === 'quick';
ensureInstalled(folder, 'libraries that tests trace', isQuick ? ['--omit=optional'] : [], !isQuick);

/** Loads one of them, as a CommonJS program does. */
export const library: NodeJS.Require = createRequire(join(folder, 'package.json'));

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Load = (name: string) => Promise<any>;

/** Loads one as an ES module does. */
export const importLibrary: Load = async (name) => {
  const { load } = (await import(new URL('./libraries/load.mjs', import.meta.url).href)) as { load: Load };
  return load(name);
};
