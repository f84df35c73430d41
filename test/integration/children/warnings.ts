// Closes local spans out of order at two places, ten times each; prints the warnings.
import { LocalSpan, Span } from 'spanline';

const warnings: string[] = [];
process.on('warning', (warning) => warnings.push(`${(warning as Error & { code?: string }).code}`));
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
root.run(() => {
  for (let i = 0; i < 10; i++) {
    first();
    second();
  }
});
setTimeout(() => console.log(JSON.stringify({ warnings })), 5);
