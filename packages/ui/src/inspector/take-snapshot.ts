// A snapshot of another process, written by that process itself. Errors must distinguish whether the process has no recorder, does not answer, or
// writes where this one does not see it.
import { statSync } from 'node:fs';
import { FlightError } from 'spanline/flight-recorder';
import { SpanlineError, targetFailure } from 'spanline/internal/base';
import { withInspector } from './with-inspector.js';

/** How a process is asked. */
interface TakeOptions {
  readonly port?: number;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

/** What it has written. */
interface TakenSnapshot {
  readonly spanCount: number;
  readonly bufferedMs: number;
  readonly bytes: number;
}

const MS_PER_SECOND = 1000;

const BLOCKED =
  'an event loop that is blocked in native code cannot answer. What the recorder writes with its option "file" ' +
  '(SPANLINE_FLIGHT_FILE) can be read meanwhile: spanline snapshot recover DIR';

/** Gives null where there is no recorder. What is called is set by src/flight-recorder/install.ts. */
const expressionFor = (path: string): string => `(async () => {
  const recorder = globalThis[Symbol.for('spanline.state.1')]?.flightRecorder;
  return recorder === undefined ? null : recorder.snapshotTo(${JSON.stringify(path)});
})()`;

const sizeOf = (pid: number, path: string): number => {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) return stats.size;
  throw targetFailure(
    `process ${pid} has written ${path}, which is not to be seen from here: it has a file system of its own, as in a container`,
  );
};

/** `path` must be absolute: the process has a directory of its own. */
export const takeSnapshot = async (
  pid: number,
  path: string,
  { port, timeoutSeconds, signal }: TakeOptions,
): Promise<TakenSnapshot> => {
  const timeout = AbortSignal.timeout(timeoutSeconds * MS_PER_SECOND);
  try {
    const answer = await withInspector(pid, { port, signal: AbortSignal.any([signal, timeout]) }, (evaluate) =>
      evaluate(expressionFor(path)),
    );
    if (answer === null)
      throw new FlightError(
        'ERR_SPANLINE_FLIGHT_OFF',
        `process ${pid} has no flight recorder: start it with SPANLINE_FLIGHT_RECORDER=60s,64MiB and spanline/register, or call configure({ flightRecorder: {} }) in it`,
      );
    const { spanCount, bufferedMs } = answer as Omit<TakenSnapshot, 'bytes'>;
    return { spanCount, bufferedMs, bytes: sizeOf(pid, path) };
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted)
      throw targetFailure(`process ${pid} did not answer within ${timeoutSeconds} s: ${BLOCKED}`, error);
    if (!(error instanceof SpanlineError))
      throw targetFailure(`no snapshot of process ${pid} could be taken: ${(error as Error).message}`, error);
    if (error.code !== 'ERR_SPANLINE_INSPECTOR_SILENT') throw error;
    throw targetFailure(`${error.message}; ${BLOCKED}`, error);
  }
};
