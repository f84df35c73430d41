// The worker thread of one archive, as the archive sees it: what it is asked and answers, when it starts and ends. File names and numbers pass
// between the threads, never spans, for copying them would take as long as the work. It starts when there is work for it, never keeps a process alive
// without work, and ends when it had none for a while. Whatever happens to it, its caller does the work itself then: nothing may depend on it.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { TransportError } from '@spanline/graph';
import { plugNPlayArguments, timers } from 'spanline/internal/base';
import type { ArchiveStats, DamagedSegment } from './archive-options.js';

/** Make a segment of a whole write-ahead file. */
export interface SealTask {
  readonly kind: 'seal';
  readonly directory: string;
  /** The file, which nobody writes to any more. */
  readonly path: string;
  /** What the segment stands for: the identity of the file. */
  readonly replaces: string;
}

export interface SealAnswer {
  /** False: the file is not there, and no segment was written. */
  readonly isDone: boolean;
  readonly spans: number;
  readonly tornBytes: number;
  /** What of the file could not be read, if anything. */
  readonly damage?: string;
}

/** Make one segment of several and delete them. */
export interface MergeTask {
  readonly kind: 'merge';
  readonly directory: string;
  /** The one that ends last first. */
  readonly names: readonly string[];
}

export interface MergeAnswer {
  /** False: some are damaged, and nothing was changed. */
  readonly isDone: boolean;
  readonly damaged: readonly DamagedSegment[];
}

type WorkTask = SealTask | MergeTask;
export type WorkAnswer = SealAnswer | MergeAnswer;

/** A numbered task, as the worker gets it. */
export interface WorkRequest {
  readonly number: number;
  readonly task: WorkTask;
}

/** What became of it: an answer, or why there is none. */
export interface WorkReply {
  readonly number: number;
  readonly answer?: WorkAnswer;
  readonly failure?: { readonly isTransport: boolean; readonly message: string };
}

/** For fewer spans no worker is started: they take this thread a few milliseconds, as starting one does. */
const MIN_SPANS = 1000;
/** Of few spans too, where they are so many bytes of a write-ahead file. */
const MIN_BYTES = 1024 * 1024;
/** MiB for objects that die young: what is made of a segment is columns, and a larger share is memory that is only kept. */
const YOUNG_MB = 8;
/** Deaths in a row after which there is no further worker. */
const MAX_DEATHS = 3;
/** Milliseconds without work after which the thread ends: what it took for the last merge is memory that the application may need. */
const IDLE_MS = 5000;

/** The worker's program, as it stands beside this one in what is published; undefined where there is none, such as in a bundle. */
const findProgram = (): string | undefined => {
  // Undefined where a bundler made CommonJS of this.
  const here: string | undefined = import.meta.url;
  if (!here?.startsWith('file:')) return undefined;
  const path = fileURLToPath(new URL('../archive/archive-worker.js', here));
  return existsSync(path) ? path : undefined;
};

/** What the worker did, and what was done without it. */
type WorkStats = Pick<ArchiveStats, 'workerTasks' | 'workerFallbacks' | 'workerFailure'>;

interface Waiting {
  readonly resolve: (answer: WorkAnswer | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Does tasks in a thread of its own. */
export class WorkThread {
  readonly #isWanted: boolean;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  readonly #waiting = new Map<number, Waiting>();
  #lastNumber = 0;
  #deaths = 0;
  #isClosed = false;
  readonly #counts = { workerTasks: 0, workerFallbacks: 0, workerFailure: '' };

  /** With `isWanted` false nothing is ever done here, nor counted. */
  constructor(isWanted: boolean) {
    this.#isWanted = isWanted;
  }

  stats(): WorkStats {
    return { ...this.#counts };
  }

  /** Whether work on so many spans should be given to `run`; where that is because there is no worker, it is counted. */
  accepts(spans: number, bytes = 0): boolean {
    if (!this.#isWanted || (spans < MIN_SPANS && bytes < MIN_BYTES)) return false;
    if (this.#start() !== undefined) return true;
    this.#counts.workerFallbacks++;
    return false;
  }

  /**
   * Do a task. Undefined when the worker died over it or there is none: do it in this thread, after looking whether it was done all the same.
   * Rejects with `TransportError` when the disk refuses, and with `Error` when there is no memory for it: this thread would have less.
   */
  run(task: SealTask): Promise<SealAnswer | undefined>;
  run(task: MergeTask): Promise<MergeAnswer | undefined>;
  async run(task: WorkTask): Promise<WorkAnswer | undefined> {
    const worker = this.#start();
    const answer = worker === undefined ? undefined : await this.#ask(worker, task);
    if (answer?.isDone) this.#counts.workerTasks++;
    else if (this.#isWanted && (answer === undefined || task.kind === 'seal')) this.#counts.workerFallbacks++;
    return answer;
  }

  /** End the thread; what it was doing is left undone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    timers.clearTimeout(this.#idle);
    await this.#worker?.terminate();
  }

  #ask(worker: Worker, task: WorkTask): Promise<WorkAnswer | undefined> {
    const number = ++this.#lastNumber;
    timers.clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      // Somebody may be waiting for it at the end of a program.
      worker.ref();
      worker.postMessage({ number, task } satisfies WorkRequest);
    });
  }

  #start(): Worker | undefined {
    if (!this.#isWanted || this.#isClosed || this.#deaths >= MAX_DEATHS) return undefined;
    this.#worker ??= this.#newWorker();
    return this.#worker;
  }

  #newWorker(): Worker | undefined {
    const program = findProgram();
    if (program === undefined) {
      this.#fail('the file archive-worker.js is not beside the archive: leave spanline out of the bundle');
      this.#deaths = MAX_DEATHS;
      return undefined;
    }
    try {
      const worker = new Worker(program, {
        name: 'spanline-archive',
        // What the application gives its own threads, such as modules to load first, is none of this one's business.
        execArgv: plugNPlayArguments(program),
        env: {},
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
      });
      worker.unref();
      worker.on('message', (reply: WorkReply) => this.#take(worker, reply));
      worker.on('error', (error: Error) => this.#bury(worker, error));
      worker.on('exit', () => this.#bury(worker, new Error('it ended')));
      return worker;
    } catch (error) {
      this.#fail(String(error));
      this.#deaths++;
      return undefined;
    }
  }

  #take(worker: Worker, { number, answer, failure }: WorkReply): void {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (this.#waiting.size === 0) {
      worker.unref();
      this.#idle = timers.setTimeout(() => this.#rest(worker), IDLE_MS).unref();
    }
    this.#deaths = 0;
    if (failure === undefined) waiting?.resolve(answer);
    else waiting?.reject(failure.isTransport ? new TransportError(failure.message) : new Error(failure.message));
  }

  /** End a thread that has nothing to do. */
  #rest(worker: Worker): void {
    if (this.#worker !== worker || this.#waiting.size > 0) return;
    this.#worker = undefined;
    void worker.terminate();
  }

  /** A thread is gone; the next task starts another. */
  #bury(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const isOutOfMemory = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
    if (!this.#isClosed) this.#fail(String(error));
    // What needs too much memory must not come to this thread in the end: an application would die of it.
    if (!(this.#isClosed || isOutOfMemory)) this.#deaths++;
    for (const { resolve, reject } of this.#waiting.values()) {
      if (isOutOfMemory) reject(error);
      else resolve(undefined);
    }
    this.#waiting.clear();
  }

  #fail(reason: string): void {
    this.#counts.workerFailure = reason;
  }
}
