// The installed @spanline/profile labels CPU samples as ESM and as CommonJS, with the addon that its tarball carries or without, and writes pprof.
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Consumer, root } from './consumer.js';

const PROGRAM = `
async function main() {
  const label = new DynamicLabel('query', 'q1');
  let sum = 0;
  function work() { for (let i = 0; i < 1e5; i++) sum += Math.sqrt(i); }
  const running = await startProfile({ everyMs: 0.2 });
  const end = performance.now() + 300;
  while (performance.now() < end) await label.run(async () => { work(); await null; work(); });
  const profile = running.stop();
  const { samples, nodes, labels } = profile;
  let all = 0, right = 0;
  for (let i = 0; i < samples.count; i++) {
    if (nodes.functionName[samples.node[i]] !== 'work') continue;
    all++;
    if (labels[samples.label[i]].query === 'q1') right++;
  }
  const asPprof = await readProfile(await toPprof(profile));
  const read = await readProfile(Buffer.from(toFolded(profile)));
  const frames = nodes.functionName.filter((name) => name === 'apply' || /^trampoline/.test(name));
  console.log(JSON.stringify({ carrier: profile.carrier, isEnough: all > 20, isRight: right / all > 0.95,
    isRead: [read, asPprof].every(({ counts }) => counts.labelled > 0), frames }));
}
main();
`;
const NAMES = '{ DynamicLabel, readProfile, startProfile, toFolded, toPprof }';

let consumer: Consumer;
let installed: string;
beforeAll(() => {
  consumer = new Consumer();
  installed = consumer.install('profile');
  consumer.write('program.mjs', `import ${NAMES} from '@spanline/profile';${PROGRAM}`);
  consumer.write('program.cjs', `const ${NAMES} = require('@spanline/profile');${PROGRAM}`);
});
afterAll(() => consumer?.dispose());

const right = { isEnough: true, isRight: true, isRead: true, frames: [] };

const prebuilds = (): string => join(installed, 'prebuilds');
const addon = join(root, 'packages/profile/native/sigprof/out/sigprof.node');

const carriers: readonly [carrier: string, isHere: boolean, prepare: () => void][] = [
  ['trampoline', true, () => rmSync(prebuilds(), { recursive: true, force: true })],
  // Where there is no compiler there is no addon.
  [
    'register',
    existsSync(addon),
    () => cpSync(addon, join(prebuilds(), `${process.platform}-${process.arch}`, 'sigprof.node')),
  ],
];

describe.each(carriers)('%s', (carrier, isHere, prepare) => {
  beforeAll(() => {
    if (isHere) prepare();
  });

  test.skipIf(!isHere).each([
    ['ESM', ['program.mjs']],
    ['CommonJS', ['--no-experimental-require-module', 'program.cjs']],
  ])('%s', (_, args) => {
    const { code, stdout, stderr } = consumer.node(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ ...right, carrier });
  });
});
