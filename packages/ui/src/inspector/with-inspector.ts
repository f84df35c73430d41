// Work in a process that runs, through its inspector. The inspector is as it was afterwards: closed again where it was closed, also where the
// process does not answer. Must change nothing in a process that was not asked for, where such a one has the port. Must not end its connection
// while the process closes its inspector: Node (seen with 20) frees the connection then between its own close frame and the answer to ours, and
// crashes or blocks.
import { TargetError, targetFailure, unlessAborted, within } from 'spanline/internal/base';
import { findInspector, ownPidOf } from './find-inspector.js';
import { InspectorClient } from './inspector-client.js';

/** Key of what is about to close the inspector, in the process: a caller in between stops it, and closes it in its place. */
const CLOSING = "globalThis[Symbol.for('spanline.inspector.closing')]";
const beginIn = (pid: number): string => `(() => {
  if (process.pid !== ${pid}) return { pid: process.pid, isClosing: false };
  const closing = ${CLOSING};
  clearTimeout(closing?.timer);
  for (const takenOver of closing?.waiting ?? []) takenOver();
  ${CLOSING} = undefined;
  return { pid: process.pid, isClosing: closing !== undefined };
})()`;
/** Settles when another caller takes over, or by the end of the connection. */
const CLOSE = `new Promise((takenOver) => {
  const timer = setTimeout(() => {
    ${CLOSING} = undefined;
    process.getBuiltinModule('inspector').close();
  }, 100);
  ${CLOSING} = { timer, waiting: [takenOver] };
})`;
/** Settles at once, or as that does where another caller has it closed just now. */
const LEAVE = `${CLOSING} && new Promise((takenOver) => { ${CLOSING}.waiting.push(takenOver); })`;
/** How long a process that gets little CPU may take to close. */
const CLOSE_MS = 10_000;
/** For one that was given up: an event loop that is blocked does not close anything meanwhile. */
const CLOSE_BLOCKED_MS = 1000;

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

/** Runs `work` with the inspector of a process, opened by SIGUSR1 where there is none. */
export const withInspector = async <T>(
  pid: number,
  { port, signal }: InspectorOptions,
  work: (evaluate: Evaluate) => Promise<T>,
): Promise<T> => {
  let found = await findInspector(pid, port);
  const ownPid = ownPidOf(pid);
  const here: { client?: InspectorClient; isToClose: boolean } = { isToClose: found.isOpened };
  const begin = async (): Promise<InspectorClient> => {
    const client = await unlessAborted(signal, InspectorClient.connect(found.address));
    here.client = client;
    const begun = (await unlessAborted(signal, client.evaluate(beginIn(ownPid)))) as {
      pid: unknown;
      isClosing: boolean;
    };
    if (begun.pid !== ownPid) {
      here.isToClose = false;
      throw targetFailure(`the inspector at ${found.address} is of process ${String(begun.pid)}; name another --port`);
    }
    here.isToClose ||= begun.isClosing;
    return client;
  };
  try {
    const client = await begin().catch(async (error: unknown) => {
      if (found.isOpened || error instanceof TargetError || signal?.aborted === true) throw error;
      // Its opener may have closed it meanwhile. Nothing was asked of the process yet.
      here.client?.close();
      here.client = undefined;
      found = await findInspector(pid, port);
      here.isToClose = found.isOpened;
      return begin();
    });
    return await work((expression) => unlessAborted(signal, client.evaluate(expression)));
  } finally {
    const { client, isToClose } = here;
    if (client !== undefined)
      await within(
        signal?.aborted === true ? CLOSE_BLOCKED_MS : CLOSE_MS,
        // One that was given up before it said which process it is decides by itself.
        client.evaluate(isToClose ? `process.pid === ${ownPid} && ${CLOSE}` : LEAVE).catch(() => undefined),
      );
    client?.close();
  }
};
