// An everyday program: awaits, local spans, a worker's trace continued. Prints its tree and the clock in use.

import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { clockInfo, contextForWorker, contextFromWorker, flush, LocalSpan, Span, setReporter, traced } from 'spanline';
import { MemoryReporter } from 'spanline/exporters/memory';

const memory = new MemoryReporter();
setReporter(memory);
const read = traced('read', async (n: number) => {
  await new Promise((resolve) => setTimeout(resolve, 1));
  LocalSpan.start(`row ${n}`).end();
});
const inWorker = (context: Uint8Array | undefined): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { context } });
    worker.on('message', resolve);
    worker.on('error', reject);
  });

if (isMainThread) {
  const root = Span.root('root');
  const worker = await root.run(async () => {
    await Promise.all([read(1), read(2)]);
    for (let i = 0; i < 100; i++) await null;
    LocalSpan.start('join').end();
    return inWorker(contextForWorker());
  });
  const rootId = root.context?.spanId;
  const traceId = root.context?.traceId;
  root.end();
  await flush();
  const { source, path } = clockInfo();
  const digits = memory.spans.some((one) => one.startNano % 1000 !== 0);
  console.log(
    JSON.stringify({ tree: memory.tree(), worker, rootId, traceId, source, path, digits, node: process.version }),
  );
} else {
  const span = Span.root('in worker', contextFromWorker(workerData.context));
  span.run(() => LocalSpan.start('work').end());
  span.end();
  await flush();
  const [record] = memory.spans;
  parentPort?.postMessage({
    tree: memory.tree(),
    parent: record.parentSpanId,
    traceId: record.traceId,
    remote: record.hasRemoteParent,
    inside: memory.spans.every((one) => one.durationNs >= 0 && one.startUnixNs >= record.startUnixNs),
    path: clockInfo().path,
  });
}
