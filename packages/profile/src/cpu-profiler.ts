// V8's own CPU profiler for this thread, through the inspector in the process. One session each, so that DevTools and others can
// profile beside it. Knows nothing of labels.
import { ProfileError } from './profile-error.js';

/** A profile as the inspector gives it. */
export interface RawProfile {
  readonly nodes: readonly RawNode[];
  /** Microseconds of V8's clock. */
  readonly startTime: number;
  readonly endTime: number;
  /** Node id of each sample. */
  readonly samples: readonly number[];
  /** Microseconds since the sample before; since `startTime` for the first. */
  readonly timeDeltas: readonly number[];
}

export interface RawNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
    readonly columnNumber: number;
  };
  readonly children?: readonly number[];
}

/** What is used of `node:inspector`'s Session. */
interface InspectorSession {
  connect(): void;
  disconnect(): void;
  post(method: string, params: object, done: (error: Error | null, result?: unknown) => void): void;
}

const noInspector = (cause: unknown): ProfileError =>
  new ProfileError(
    'ERR_SPANLINE_PROFILE_INSPECTOR',
    'V8 cannot be profiled: this Node has no inspector; use a Node built with it',
    { cause },
  );

export class CpuProfiler {
  readonly #session: InspectorSession;

  private constructor(session: InspectorSession) {
    this.#session = session;
  }

  /** Loads the inspector at the first call only: to carry labels takes none. */
  static async open(): Promise<CpuProfiler> {
    try {
      const { Session } = await import('node:inspector');
      const session = new Session() as InspectorSession;
      session.connect();
      return new CpuProfiler(session);
    } catch (error) {
      throw noInspector(error);
    }
  }

  /** From now on V8 samples this thread. */
  start(intervalUs: number): void {
    this.#post('Profiler.enable');
    this.#post('Profiler.setSamplingInterval', { interval: intervalUs });
    this.#post('Profiler.start');
  }

  stop(): RawProfile {
    const { profile } = this.#post('Profiler.stop') as { profile: RawProfile };
    this.#post('Profiler.disable');
    return profile;
  }

  close(): void {
    this.#session.disconnect();
  }

  // A session of this very thread answers before post() returns.
  #post(method: string, params: object = {}): unknown {
    let answer: unknown;
    let failure: Error | null = null;
    this.#session.post(method, params, (error, result) => {
      failure = error;
      answer = result;
    });
    if (failure === null) return answer;
    throw new ProfileError(
      'ERR_SPANLINE_PROFILE_INSPECTOR',
      `the inspector refused ${method}: ${(failure as Error).message}`,
      { cause: failure },
    );
  }
}
