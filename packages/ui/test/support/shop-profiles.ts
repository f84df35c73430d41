// A directory of real profiles and an archive with the spans that they sampled: a program run twice by `spanline profile run`, with labels of
// its own (one of them hostile) and spans. The second time one query takes more.
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../../../../test/support/built.js';
import { spanlineProcess } from '../../../cli/test/support/spanline.js';

/** What would run if a page took it for markup. */
export const HOSTILE = '<img src=x onerror="window.isHacked=true"><script>window.isHacked=true</script>';
export const BEFORE = 'monday.pb.gz';
export const AFTER = 'tuesday.pb.gz';
const CPU_MS = 1200;

const moduleAt = (name: string): string => JSON.stringify(pathToFileURL(join(root, name)).href);

const source = (): string => `
import { setReporter, shutdown, Span } from ${moduleAt('dist/esm/index.js')};
import { Archive, ArchiveReporter } from ${moduleAt('packages/archive/dist/esm/index.js')};
import { DynamicLabel } from ${moduleAt('packages/profile/dist/esm/index.js')};
const archive = await Archive.open(process.argv[2]);
setReporter(new ArchiveReporter(archive));
const parseRows = (units) => { let x = 0; for (let i = 0; i < units * 20000; i++) x += Math.sqrt(i); return x; };
const renderPage = (units) => { let x = 0; for (let i = 0; i < units * 20000; i++) x += Math.cbrt(i); return x; };
const q1 = new DynamicLabel('query', 'select 1');
const q2 = new DynamicLabel('query', ${JSON.stringify(HOSTILE)});
const cpuMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
const begin = cpuMs();
while (cpuMs() - begin < Number(process.argv[4])) {
  const span = Span.root('GET /cart');
  span.run(() => {
    q1.apply(() => parseRows(Number(process.argv[3])));
    q2.apply(() => renderPage(1));
  });
  span.end();
  await new Promise((resolve) => setImmediate(resolve));
}
await shutdown();
await archive.close();
`;

/** Run the program in a directory for so much CPU time and put its profile, of this name, into `profiles` there; gives the spans' archive. */
export const makeShopProfile = async (dir: string, name: string, units: number, cpuMs: number): Promise<string> => {
  const program = join(dir, 'shop.mjs');
  const archive = join(dir, 'profiled-traces');
  writeFileSync(program, source());
  const command = [process.execPath, program, archive, String(units), String(cpuMs)];
  const out = join(dir, 'profiles', name);
  const { code, stderr } = await spanlineProcess(['profile', 'run', '--out', out, '--', ...command]);
  if (code !== 0) throw new Error(`the program failed:\n${stderr}`);
  return archive;
};

/** Two profiles, the later one first in lists; where they and the spans' archive are. */
export const makeShopProfiles = async (
  dir: string,
): Promise<{ readonly profiles: string; readonly archive: string }> => {
  await makeShopProfile(dir, BEFORE, 1, CPU_MS);
  const archive = await makeShopProfile(dir, AFTER, 4, CPU_MS);
  const profiles = join(dir, 'profiles');
  // Times of files may be equal to the millisecond.
  utimesSync(join(profiles, BEFORE), 1_700_000_000, 1_700_000_000);
  return { profiles, archive };
};
