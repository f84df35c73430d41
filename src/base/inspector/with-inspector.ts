// Work in a process that runs, through its inspector. The inspector is as it was afterwards: closed again where it was closed, also where the
// process does not answer.
import { within } from '../calls/within.js';
import { findInspector } from './find-inspector.js';
import { InspectorClient } from './inspector-client.js';
import { targetFailure } from './target-error.js';

const CLOSE = "setTimeout(() => process.getBuiltinModule('inspector').close(), 100); undefined";
/** A process whose event loop is blocked never says that it has closed. */
const CLOSE_MS = 1000;

/** Evaluates there; the value must be JSON, and is waited for. */
export type Evaluate = (expression: string) => Promise<unknown>;

/** How a process is asked. */
export interface InspectorOptions {
  /** Port of the inspector, where it is not found. */
  readonly port?: number;
  /** Ends the waiting for an answer; the work rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** An expression that gives the exports of a built file of this package, by its path from the file of the address `from`. */
export const loadedThere = (from: string, file: string): string =>
  // Code of the inspector has neither `import` nor `require` of its own. Node from 20.19 on requires ES modules too.
  `(() => {
  const builtin = process.getBuiltinModule;
  if (builtin === undefined) throw new Error('Node ' + process.versions.node + ' is too old: 20.19 or newer is needed');
  return builtin('module').createRequire(${JSON.stringify(from)})(${JSON.stringify(file)});
})()`;

const unless = <T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> => {
  if (signal === undefined) return work;
  // What was given up may still fail, with nobody to hear it.
  work.catch(() => undefined);
  return new Promise((resolve, reject) => {
    const end = (): void => reject(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
};

/** Runs `work` with the inspector of a process, opened by SIGUSR1 where there is none. */
export const withInspector = async <T>(
  pid: number,
  { port, signal }: InspectorOptions,
  work: (evaluate: Evaluate) => Promise<T>,
): Promise<T> => {
  const { address, isOpened } = await findInspector(pid, port);
  let client: InspectorClient | undefined;
  try {
    const connected = await unless(signal, InspectorClient.connect(address));
    client = connected;
    const evaluate: Evaluate = (expression) => unless(signal, connected.evaluate(expression));
    const there = await evaluate('process.pid');
    if (there !== pid)
      throw targetFailure(`the inspector at ${address} is of process ${String(there)}; name another --port`);
    return await work(evaluate);
  } finally {
    if (isOpened && client !== undefined)
      await within(
        CLOSE_MS,
        client.evaluate(CLOSE).catch(() => undefined),
      );
    client?.close();
  }
};
