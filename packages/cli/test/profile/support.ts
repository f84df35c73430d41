// A program with two labels whose shares are three to one, for the commands that profile programs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../support/spanline.js';

const LIBRARY = pathToFileURL(join(root, 'packages/profile/dist/esm/index.js')).href;

/**
 * Works for so many milliseconds of CPU time, or until it is ended; says when it has begun, when a profile of it has, and when it has worked
 * for 300 ms in that.
 */
const SOURCE = `
import { DynamicLabel } from ${JSON.stringify(LIBRARY)};
const shopWork = (units) => { let x = 0; for (let i = 0; i < units * 2000; i++) x += Math.sqrt(i); return x; };
const jitter = (units) => units * (0.5 + Math.random());
const q1 = new DynamicLabel('query', 'q1');
const q2 = new DynamicLabel('query', 'q2');
const most = Number(process.argv[2]);
const cpuMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
const begin = cpuMs();
console.log('begun');
// What every copy of the library in this thread sees of a profile under way.
const register = globalThis[Symbol.for('spanline.profile.0')];
let isProfiled = process.argv[3] !== 'watch';
let profiledAt = Infinity;
while (cpuMs() - begin < most) {
  if (!isProfiled && register.enroll !== undefined) {
    isProfiled = true;
    profiledAt = cpuMs();
    console.log('profiled');
  }
  if (cpuMs() - profiledAt > 300) {
    profiledAt = Infinity;
    console.log('worked');
  }
  q1.apply(() => shopWork(jitter(3)));
  q2.apply(() => shopWork(jitter(1)));
  await new Promise((resolve) => setImmediate(resolve));
}
process.exitCode = 7;
`;

/** Write the program; its path. */
export const shopProgram = (dir: string): string => {
  const file = join(dir, 'shop.mjs');
  writeFileSync(file, SOURCE);
  return file;
};

/** What `top --json` prints. */
export interface TopJson {
  readonly rows: readonly { readonly value: string; readonly share: number; readonly samples: number }[];
  readonly keys: readonly string[];
}

/** Of the labelled samples, those of q1. */
export const shareOfQ1 = ({ rows }: TopJson): number => {
  const samplesOf = (value: string): number => rows.find((row) => row.value === value)?.samples ?? 0;
  return samplesOf('q1') / (samplesOf('q1') + samplesOf('q2'));
};
