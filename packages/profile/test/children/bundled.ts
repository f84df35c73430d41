// A program in one file with the library, whose own functions are called as those of the library are.
import { DynamicLabel, selectLabels, startProfile, toFolded } from '@spanline/profile';

const apply = (units: number): number => {
  let sum = 0;
  for (let i = 0; i < units; i++) sum += Math.sqrt(i);
  return sum;
};
const append = (): number => apply(20_000 * Math.random());
const run = (): number => append();

const label = new DynamicLabel('query', 'q1');
const running = await startProfile({ everyMs: 0.5, carrier: process.argv[2] as 'register' });
// Behind the start, which alone may take more.
const startUs = process.cpuUsage().user;
while (process.cpuUsage().user < startUs + 300_000) label.apply(run);
console.log(JSON.stringify({ folded: toFolded(selectLabels(running.stop(), () => false)) }));
