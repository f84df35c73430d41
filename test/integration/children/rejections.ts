// Prints which rejections nobody handled, traced or not; the two lists must be equal.
import { runInNewContext } from 'node:vm';
import { Span, trace, traced, tracePromise } from 'spanline';

const unhandled: string[] = [];
process.on('unhandledRejection', (error) => unhandled.push((error as Error).message));
process.on('rejectionHandled', () => unhandled.push('handled later'));
const settle = () => new Promise((resolve) => setTimeout(resolve, 5));
const root = Span.root('root');
const fail = async (message: string): Promise<never> => {
  await null;
  throw new Error(message);
};
const foreignFail = runInNewContext('async (message) => { await null; throw new Error(message); }') as typeof fail;
const WAYS: Record<string, (message: string) => Promise<unknown>> = {
  bare: fail,
  run: (message) => root.run(() => fail(message)),
  runToEnd: (message) => Span.start('child', root).runToEnd(() => fail(message)),
  traced: (message) => root.run(() => traced('t', fail)(message)),
  trace: (message) => root.run(() => trace('t', async () => fail(message))),
  tracePromise: (message) => root.run(() => tracePromise('p', fail(message))),
  'own properties': (message) => root.run(() => Object.assign(fail(message), { own: 1 })),
  'another realm': (message) => root.run(() => foreignFail(message)),
  'another realm, runToEnd': (message) => Span.start('child', root).runToEnd(() => foreignFail(message)),
};
const found: Record<string, string[]> = {};
for (const [name, way] of Object.entries(WAYS)) {
  void way('left');
  await settle();
  await way('awaited').catch(() => {});
  await Promise.allSettled([way('with others')]);
  await settle();
  found[name] = unhandled.splice(0);
}
console.log(JSON.stringify(found));
