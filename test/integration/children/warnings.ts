// Closes local spans out of order at three places, ten times each; prints the warnings and the functions they name.
import { LocalSpan, Span } from 'spanline';

const warnings: string[] = [];
const places: (string | undefined)[] = [];
process.on('warning', (warning) => {
  warnings.push(`${(warning as Error & { code?: string }).code}`);
  places.push(/out of order at (\w+) \(/.exec(warning.message)?.[1]);
});
const root = Span.root('root');
const first = (): void => {
  const [a, b] = [LocalSpan.start('a'), LocalSpan.start('b')];
  a.end();
  b.end();
};
const second = (): void => {
  const [a, b] = [LocalSpan.start('a'), LocalSpan.start('b')];
  a.end();
  b.end();
};
const acrossAwait = async (): Promise<void> => {
  const span = LocalSpan.start('held');
  await null;
  span.end();
};
root.run(() => {
  for (let i = 0; i < 10; i++) {
    first();
    second();
  }
});
await root.run(() => Promise.all(Array.from({ length: 10 }, acrossAwait)));
setTimeout(() => console.log(JSON.stringify({ warnings, places })), 5);
