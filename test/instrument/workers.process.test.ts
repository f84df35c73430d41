// What a worker thread does in answer to a message that was posted inside a span is below that span; messages and what listeners get stay as
// they are, and no context is ever taken for another message's.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SpanContext } from '../../src/index.js';
import { SentContexts } from '../../src/instrument/workers/sent-contexts.js';
import { buildFirst } from '../support/built.js';
import { out, runFile } from '../support/child.js';

buildFirst();

writeFileSync(
  join(out, 'worker.mjs'),
  `import { parentPort, receiveMessageOnPort } from 'node:worker_threads';
   import { setTimeout as sleep } from 'node:timers/promises';
   import { Span } from 'spanline';
   const seen = [];
   parentPort.addEventListener('message', ({ data }) => seen.push(data));
   parentPort.on('message', async (message) => {
     if (message === 'pull') {
       // Blocks until the next one is there.
       let pulled;
       while (!(pulled = receiveMessageOnPort(parentPort)));
       return parentPort.postMessage({ message: pulled.message });
     }
     await sleep(5);
     const child = Span.startWithLocalParent('work');
     parentPort.postMessage({ message, trace: child.context?.traceId, sampled: child.context?.sampled, same: seen.includes(message) });
     child.end();
   });`,
);
const app = join(out, 'app.mjs');
writeFileSync(
  app,
  `import { once } from 'node:events';
   import { Worker } from 'node:worker_threads';
   import { Span, SpanContext } from 'spanline';
   const traces = {};
   const post = (worker, message) => {
     const root = Span.root('request', SpanContext.random({ sampled: message.sampled ?? true }));
     traces[message.name] = root.context.traceId;
     root.run(() => worker.postMessage(message));
     root.end();
   };
   const talk = async (options) => {
     const worker = new Worker(new URL('./worker.mjs', import.meta.url), options);
     const answers = [];
     worker.on('message', (answer) => answers.push(answer));
     const until = async (count) => { while (answers.length < count) await once(worker, 'message'); };
     post(worker, { name: 'early' });
     worker.postMessage({ name: 'alone' });
     try { worker.postMessage(() => {}); } catch {}
     await until(2);
     post(worker, { name: 'late', map: new Map([[1, new Date(0)]]) });
     post(worker, { name: 'unsampled', sampled: false });
     await until(4);
     worker.postMessage('pull');
     post(worker, { name: 'pulled' });
     await until(5);
     post(worker, { name: 'last' });
     await until(6);
     await worker.terminate();
     return answers;
   };
   const shown = ({ message, trace, sampled, same }) => [message.name, trace !== undefined && trace === traces[message.name], trace !== undefined, sampled, same, message.map?.get(1).getTime()];
   const traced = (await talk({})).map(shown);
   const untraced = (await talk({ execArgv: [] })).map(shown);
   console.log(JSON.stringify({ traced, untraced }));`,
);

test('messages to a worker, before it is up and later', async () => {
  const { code, stdout, stderr } = await runFile(app, {
    execArgv: ['--import', 'spanline/register'],
    env: { OTEL_TRACES_EXPORTER: 'none' },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const shown = (
    name: string,
    isTraced: boolean,
    sampled: boolean | null = isTraced ? true : null,
    time: number | null = null,
  ) => [name, isTraced, isTraced, sampled, name === 'pulled' ? null : true, time];
  const [alone, pulled] = [shown('alone', false), shown('pulled', false)];
  const { traced, untraced } = JSON.parse(stdout) as Record<string, unknown>;
  expect(traced).toEqual([
    shown('early', true),
    alone,
    shown('late', true, true, 0),
    shown('unsampled', true, false),
    pulled,
    shown('last', true),
  ]);
  // A thread that traces nothing gets the same.
  expect(untraced).toEqual([
    shown('early', false),
    alone,
    shown('late', false, null, 0),
    shown('unsampled', false),
    pulled,
    shown('last', false),
  ]);
});

test('messages that cannot be cloned, and that post others while they are', async () => {
  const odd = join(out, 'odd.mjs');
  writeFileSync(
    odd,
    `import { once } from 'node:events';
     import { Worker, isMainThread, parentPort } from 'node:worker_threads';
     import { Span, stats } from 'spanline';
     if (isMainThread) {
       const worker = new Worker(new URL(import.meta.url));
       const names = new Map();
       const post = (name, message) => Span.root(name).runToEnd(() => {
         names.set(Span.current().context.traceId, name);
         try { worker.postMessage(message); } catch {}
       });
       await once(worker, 'message');
       post('broken', { name: 'broken', call() {} });
       worker.postMessage({ name: 'after broken' });
       post('outer', { name: 'outer', get inner() { post('inner', { name: 'inner' }); return 1; } });
       post('next', { name: 'next' });
       worker.postMessage({ name: 'last' });
       worker.on('message', ([name, trace]) => {
         console.log(name + ': ' + names.get(trace));
         if (name === 'last') {
           worker.terminate().then(() => {
             post('late', { name: 'late' });
             console.log(stats().instrumentationErrors);
           });
         }
       });
     } else {
       parentPort.on('message', ({ name }) => parentPort.postMessage([name, Span.current()?.context.traceId]));
       parentPort.postMessage('ready');
     }`,
  );
  const { stdout, stderr } = await runFile(odd, {
    execArgv: ['--import', 'spanline/register'],
    env: { OTEL_TRACES_EXPORTER: 'none' },
  });
  const lines = stdout.trim().split('\n');
  // The outer one is told of when it has gone, which may be too late.
  expect(['outer: outer', 'outer: undefined']).toContain(lines[2]);
  expect([...lines.toSpliced(2, 1), stderr]).toEqual([
    'after broken: undefined',
    'inner: inner',
    'next: next',
    'last: undefined',
    '0',
    '',
  ]);
});

test('a worker that begins to trace after its first message counts none', async () => {
  const late = join(out, 'late.mjs');
  writeFileSync(
    late,
    `import { once } from 'node:events';
     import { Worker, isMainThread, parentPort } from 'node:worker_threads';
     import { Span } from 'spanline';
     import { instrument } from 'spanline/instrument';
     if (isMainThread) {
       instrument();
       const worker = new Worker(new URL(import.meta.url));
       for (const name of ['first', 'second']) {
         Span.root(name).runToEnd(() => worker.postMessage(name));
         console.log((await once(worker, 'message'))[0]);
       }
       await worker.terminate();
     } else {
       await once(parentPort, 'message');
       instrument();
       // The context of another message is worse than none.
       parentPort.on('message', (name) => parentPort.postMessage(name + ' ' + Span.current()?.name));
       parentPort.postMessage('ready');
     }`,
  );
  const { stdout, stderr } = await runFile(late, {});
  expect({ stdout, stderr }).toEqual({ stdout: 'ready\nsecond undefined\n', stderr: '' });
});

test('a context is read for its own message alone', () => {
  const sent = new SentContexts();
  const reader = new SentContexts(sent.memory);
  const context = SpanContext.fromTraceparent('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03');
  sent.write(3, 1, context as SpanContext);
  expect(reader.read(3, 1)?.toTraceparent()).toBe(context?.toTraceparent());
  expect(reader.read(3, 1)?.isRemote).toBe(true);
  for (const [thread, number] of [
    [3, 2],
    [3, 33],
    [4, 1],
    [259, 1],
  ]) {
    expect(reader.read(thread, number)).toBeUndefined();
  }
  // Too many wait: the oldest is gone.
  sent.write(3, 33, context as SpanContext);
  expect(reader.read(3, 1)).toBeUndefined();
  expect(reader.read(3, 33)).toBeDefined();
});
